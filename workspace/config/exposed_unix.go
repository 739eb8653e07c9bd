//go:build unix

package config

import (
	"os"
)

// exposed warns of a file that others can write: whoever writes it names programs.
func exposed(file string) []Problem {
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm()&0o022 == 0 {
		return nil
	}
	return []Problem{{
		File: file, Message: "other users can write it", Remedy: "chmod 600 " + file, Warning: true,
	}}
}
