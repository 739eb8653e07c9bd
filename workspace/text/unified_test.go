package text

import "testing"

func TestUnified(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"same", "a\n", "a\n", ""},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"new file", "", "a\nb\n", "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"removed file", "a\n", "", "--- f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"},
		{"final newline added", "a", "a\n", "--- f\n+++ f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"insertion between", "1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nx\n5\n6\n7\n8\n", "--- f\n+++ f\n@@ -2,6 +2,7 @@\n 2\n 3\n 4\n+x\n 5\n 6\n 7\n"},
		{"contexts that meet are one hunk", "a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n",
			"--- f\n+++ f\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n"},
		{"contexts apart are two", "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
			"--- f\n+++ f\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n"},
		{"B5 one line of a CRLF file", "a = 1\r\nb = 2\r\n", "a = 1\r\nb = 22\r\n", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a = 1\r\n-b = 2\r\n+b = 22\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Unified("f", tt.old, tt.new); got != tt.want {
				t.Errorf("Unified(%q, %q)\n got %q\nwant %q", tt.old, tt.new, got, tt.want)
			}
		})
	}
}
