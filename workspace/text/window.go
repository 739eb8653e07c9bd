package text

import "strings"

// Window returns limit lines of s from line on, as fs/read_text_file of ACP
// asks for them: line counts from 1 (0 or less: from the start), limit 0 or
// less is no limit. Each line keeps its ending, none is added. Past the end the
// answer is "". Lines end at "\n" (so at "\r\n" too); a lone "\r" is content.
func Window(s string, line, limit int) string {
	for ; line > 1; line-- {
		n := strings.IndexByte(s, '\n')
		if n < 0 {
			return ""
		}
		s = s[n+1:]
	}
	if limit <= 0 {
		return s
	}
	end := 0
	for range limit {
		n := strings.IndexByte(s[end:], '\n')
		if n < 0 {
			return s
		}
		end += n + 1
	}
	return s[:end]
}

// lineAt returns the number, from 1, of the line that holds the byte offset at,
// counting lines as [Window] does.
func lineAt(s string, at int) int {
	return 1 + strings.Count(s[:at], "\n")
}
