package checkpointtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Rules are those of the tree's .gitignore. They name nothing that is in it.
const Rules = "node_modules/\n/dist\n*.log\n*.tmp\n.env\n!keep.log\n__pycache__/\n/build/**\n.DS_Store\n*.py[co]\n"

// Generate makes a tree of n files or up to eight more in a folder that is empty, and returns their names: nine in a folder, four
// folders in a folder, sizes as those of source code; a tenth has bytes that cannot be compressed. A .gitignore comes on top.
func Generate(dir string, n int) ([]string, error) {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(Rules), 0o644); err != nil {
		return nil, err
	}
	var files []string
	folders := []string{dir}
	for i := 0; len(files) < n; i++ {
		in := folders[i]
		if i > 0 {
			if err := os.Mkdir(in, 0o755); err != nil {
				return nil, err
			}
		}
		for j := range 4 {
			folders = append(folders, filepath.Join(in, fmt.Sprintf("package%d", j)))
		}
		for j := range 9 {
			name := filepath.Join(in, fmt.Sprintf("source_file_%d.go", j))
			if err := os.WriteFile(name, body(random, i, j), 0o644); err != nil {
				return nil, err
			}
			files = append(files, name)
		}
	}
	return files, nil
}

func body(random *rand.Rand, i, j int) []byte {
	body := bytes.Repeat(fmt.Appendf(nil, "func f%d(a int) error { return nil } // %d\n", i, j), 1+int(random.ExpFloat64()*180))
	if random.IntN(10) == 0 {
		for k := range body {
			body[k] = byte(random.Uint32())
		}
	}
	return body
}
