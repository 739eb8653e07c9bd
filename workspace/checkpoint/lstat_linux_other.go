//go:build linux && !amd64 && !arm64 && !riscv64

package checkpoint

// lstatOf is lstat of a name in a list.
func (f *folder) lstatOf(name []byte) (stat, error) { return f.lstat(string(name)) }
