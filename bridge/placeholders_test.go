package bridge_test

import (
	"os"
	"testing"
)

// TestPlaceholdersAreNoChanges: the empty folders that stand for a fence's masks
// come and go without being a turn's; what is made in one is.
func TestPlaceholdersAreNoChanges(t *testing.T) {
	r := newRig(t, `{"prompts": [{"match": "one", "steps": [{"shell": "rmdir .vscode; mkdir .idea kept; touch a.txt"}]},
	  {"match": "two", "steps": [{"shell": "mkdir .zed; touch .zed/tasks.json"}]}]}`, keeping, bypass)
	if err := os.Mkdir(r.path(".vscode"), 0o755); err != nil {
		t.Fatal(err)
	}
	info := r.open()
	for _, turn := range []struct{ prompt, want string }{
		{"one", "a.txt added silent\nkept added silent"},
		{"two", ".zed added silent\n.zed/tasks.json added silent"},
	} {
		result, err := r.prompt(info.ID, turn.prompt)
		if err != nil {
			t.Fatal(err)
		}
		if got := changes(result.Changes); got != turn.want {
			t.Errorf("turn %s changed\n%s\nwant\n%s", turn.prompt, got, turn.want)
		}
		r.undo(result.Turn)
	}
	if _, err := os.Stat(r.path(".vscode")); !os.IsNotExist(err) {
		t.Errorf("an undo made a placeholder: %v", err)
	}
}
