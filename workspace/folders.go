package workspace

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Folders makes plain folders of what an editor or a client names as its folders: paths or
// file URIs. An empty entry is nothing, and not the current folder; "C:" on Windows is
// "C:\". A folder that is named twice is kept once, in the order given. An entry that is not
// absolute, or no folder that can be read, is one of the errors and does not stop the
// others.
func Folders(entries []string) (folders []string, errs []error) {
	var seen []os.FileInfo
	for _, entry := range entries {
		path, err := folderPath(own(), entry)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if path == "" {
			continue
		}
		info, err := readable(path)
		if err != nil {
			errs = append(errs, fmt.Errorf("opening folder %s: %w", path, err))
			continue
		}
		known := false
		for _, other := range seen {
			known = known || os.SameFile(info, other)
		}
		if !known {
			folders, seen = append(folders, path), append(seen, info)
		}
	}
	return folders, errs
}

// FolderPath gives the plain path of one such entry; "" for an empty one. Nothing is looked
// up. It errs on what is neither an absolute path nor a file URI.
func FolderPath(entry string) (string, error) { return folderPath(own(), entry) }

// folderPath gives the cleaned path of an entry; "" for an empty one.
func folderPath(f flavour, entry string) (string, error) {
	entry = strings.TrimSpace(entry)
	if entry == "" {
		return "", nil
	}
	if scheme, _, ok := strings.Cut(entry, ":"); ok && isScheme(scheme) {
		return pathOf(f, entry)
	}
	if !absolute(f, entry) {
		return "", fmt.Errorf("opening folder %q: not an absolute path", entry)
	}
	return clean(f, entry), nil
}

func readable(path string) (os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errors.New("not a folder")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return info, f.Close()
}
