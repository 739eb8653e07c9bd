//go:build linux || darwin

package disk

import (
	"bytes"
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// KeepAttributes copies the extended attributes of the file that temp takes the place of, as far as they can be had. An error is
// returned only for those that the user set or that grant access: user.* and access lists. File capabilities are dropped, as the
// system drops them on a write.
func KeepAttributes(temp, was *os.File) error {
	return withFd(was, func(from int) error {
		list, err := attributeNames(from)
		if err != nil || len(list) == 0 {
			return nil // no attributes, or a file system without them
		}
		return withFd(temp, func(to int) error {
			var errs []error
			for _, name := range list {
				if name == "security.capability" {
					continue
				}
				if err := copyAttribute(to, from, name); err != nil && matters(name) {
					errs = append(errs, err)
				}
			}
			return errors.Join(errs...)
		})
	})
}

func matters(name string) bool {
	return !strings.HasPrefix(name, "security.") && !strings.HasPrefix(name, "trusted.")
}

func attributeNames(fd int) ([]string, error) {
	data, err := sized(func(buf []byte) (int, error) { return unix.Flistxattr(fd, buf) })
	if err != nil || len(data) == 0 {
		return nil, err
	}
	return strings.Split(string(bytes.TrimSuffix(data, []byte{0})), "\x00"), nil
}

func copyAttribute(to, from int, name string) error {
	value, err := sized(func(buf []byte) (int, error) { return unix.Fgetxattr(from, name, buf) })
	if err != nil {
		return err
	}
	return unix.Fsetxattr(to, name, value, 0)
}

// sized calls a function that tells the size it needs when it is given no buffer.
func sized(get func([]byte) (int, error)) ([]byte, error) {
	for {
		n, err := get(nil)
		if err != nil || n == 0 {
			return nil, err
		}
		buf := make([]byte, n)
		n, err = get(buf)
		if errors.Is(err, unix.ERANGE) { // it grew
			continue
		}
		return buf[:max(n, 0)], err
	}
}
