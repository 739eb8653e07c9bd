package permit

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

// Call is what is known of one tool call: everything the agent said about it,
// later words replacing earlier ones. All texts are the agent's, unchanged.
type Call struct {
	ID        string
	Kind      string         // ACP kind: edit, execute, … or a text we do not know; empty when not said
	Title     string         // for people only
	ToolName  string         // the agent's own name of the tool; empty when not said
	Status    string         // pending, in_progress, completed, failed, or unknown
	Input     jsontext.Value // rawInput; nil when not said
	Locations []string       // files it names, as spelt
	Content   jsontext.Value // the content array, kept while it holds a diff; nil otherwise
}

// MaxPaths is how many files of one call are looked at. A permission that names
// more is refused as malformed: nobody could judge it.
const MaxPaths = 1000

// Final reports whether the call has ended.
func (c *Call) Final() bool { return finalStatus(c.Status) }

func finalStatus(s string) bool {
	switch s {
	case "completed", "failed", "cancelled", "canceled":
		return true
	default:
		return false
	}
}

// Diffs decodes the changes that the call announces, in order, MaxPaths at the
// most. What cannot be read as a diff is left out.
func (c *Call) Diffs() []Diff {
	var all []Diff
	EachElement(c.Content, func(item []byte) {
		if len(all) > MaxPaths {
			return
		}
		if d, ok := readDiff(item); ok {
			all = append(all, d)
		}
	})
	return all
}

// diffPaths are the paths of the call's diffs, without decoding their texts.
func (c *Call) diffPaths() []string {
	var all []string
	EachElement(c.Content, func(item []byte) {
		if len(all) <= MaxPaths && textMember(item, "type") == "diff" {
			all = appendPath(all, textMember(item, "path"))
		}
	})
	return all
}

// Paths lists every file and folder that the call names: in its diffs, in its
// locations and in its raw input, as the agent spelt them, each once. It ends
// behind MaxPaths: one more says that there are too many.
func (c *Call) Paths() []string {
	all := c.diffPaths()
	for _, p := range c.Locations {
		all = appendPath(all, p)
	}
	for _, p := range inputPaths(c.Input, c.Kind == "move") {
		all = appendPath(all, p)
	}
	return all
}

// appendPath adds a path that is not there yet, as long as all is not full: to
// compare each of a million with all others would take hours.
func appendPath(all []string, p string) []string {
	if p == "" || len(all) > MaxPaths || slices.Contains(all, p) {
		return all
	}
	return append(all, p)
}

func readDiff(item []byte) (Diff, bool) {
	var d Diff
	isDiff, hasPath := false, false
	err := rpc.Members(item, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			isDiff = str(value) == "diff"
		case "path":
			d.Path = str(value)
			hasPath = d.Path != ""
		case "oldText":
			d.Old = nil
			if !null(value) {
				old := str(value)
				d.Old = &old
			}
		case "newText":
			d.New = str(value)
		}
		return true
	})
	return d, err == nil && isDiff && hasPath
}

// maxPath is the longest text in a raw input that is taken for a path.
const maxPath = 4096

// inputPaths finds the files in a tool's raw input, by the member names that
// agents use. zed's codex-acp names them as the keys of `changes`.
func inputPaths(input jsontext.Value, move bool) []string {
	var all []string
	add := func(value []byte) {
		if p := str(value); len(p) <= maxPath {
			all = appendPath(all, p)
		}
	}
	_ = rpc.Members(input, func(key, value []byte) bool { // not an object: names nothing
		switch string(key) {
		case "file_path", "filePath", "filepath", "path", "absolute_path", "absolutePath",
			"notebook_path", "notebookPath", "dir_path", "dirPath", "directory", "parentDir",
			"target_file", "TargetFile", "AbsolutePath", "old_path", "new_path", "move_path", "cwd", "Cwd", "workdir":
			add(value)
		case "source", "destination", "from", "to":
			if move {
				add(value)
			}
		case "paths", "file_paths", "filePaths", "files":
			EachElement(value, add)
		case "changes":
			_ = rpc.Members(value, func(path, change []byte) bool {
				all = appendPath(all, string(path))
				all = appendPath(all, textMember(change, "move_path"))
				return true
			})
		}
		return true
	})
	return all
}
