package bench_test

import (
	"fmt"
	"strings"
)

// manyLines returns about size bytes that look like a program, escaped for JSON
// without the quotes. Each line is 64 characters.
func manyLines(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		line := fmt.Sprintf(`\tif value%d := compute(%d); value%d > 0 { // a line`, i, i, i)
		b.WriteString(line + strings.Repeat(".", max(0, 64-len(line))) + `\n`)
	}
	return b.String()
}
