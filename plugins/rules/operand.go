package rules

import (
	"slices"
	"strings"
)

// How the best-known programs use the files that they are told.
const (
	readsFiles  = 1 << iota
	writesFiles // or deletes or moves them, or changes who may
	wholeFolders
	patternFirst // the first is no file unless an option says so
)

var fileUse = map[string]int{
	"cat": readsFiles, "head": readsFiles, "tail": readsFiles, "less": readsFiles, "more": readsFiles, "bat": readsFiles, "batcat": readsFiles,
	"nl": readsFiles, "tac": readsFiles, "rev": readsFiles, "wc": readsFiles, "sort": readsFiles, "cut": readsFiles, "paste": readsFiles,
	"join": readsFiles, "comm": readsFiles, "fold": readsFiles, "fmt": readsFiles, "pr": readsFiles, "column": readsFiles, "expand": readsFiles,
	"strings": readsFiles, "xxd": readsFiles, "od": readsFiles, "hexdump": readsFiles, "base64": readsFiles, "base32": readsFiles,
	"diff": readsFiles, "cmp": readsFiles, "sdiff": readsFiles, "zcat": readsFiles, "zless": readsFiles, "xzcat": readsFiles, "bzcat": readsFiles,
	"split": readsFiles | writesFiles, "csplit": readsFiles, "source": readsFiles, ".": readsFiles, "iconv": readsFiles, "dd": readsFiles,
	"md5sum": readsFiles, "sha1sum": readsFiles, "sha256sum": readsFiles, "shasum": readsFiles, "cksum": readsFiles, "git diff": readsFiles,
	"grep": readsFiles | patternFirst, "egrep": readsFiles | patternFirst, "fgrep": readsFiles | patternFirst, "zgrep": readsFiles | patternFirst,
	"rg": readsFiles | patternFirst, "jq": readsFiles | patternFirst, "git grep": readsFiles | patternFirst,
	"awk": readsFiles | patternFirst, "gawk": readsFiles | patternFirst, "mawk": readsFiles | patternFirst,
	"sed": readsFiles | writesFiles | patternFirst, "gsed": readsFiles | writesFiles | patternFirst, // -i writes; which one is said in too many ways
	"cp": readsFiles | writesFiles | wholeFolders, "mv": readsFiles | writesFiles | wholeFolders, "install": readsFiles | writesFiles,
	"ln": readsFiles | writesFiles | wholeFolders, "link": readsFiles | writesFiles, "rsync": readsFiles | writesFiles | wholeFolders, "scp": readsFiles | writesFiles | wholeFolders,
	"tar": readsFiles | wholeFolders, "zip": readsFiles | wholeFolders, "uniq": readsFiles | writesFiles,
	"gzip": readsFiles | writesFiles, "gunzip": readsFiles | writesFiles, "xz": readsFiles | writesFiles, "bzip2": readsFiles | writesFiles, "patch": readsFiles | writesFiles,
	"perl": readsFiles | writesFiles, "ruby": readsFiles | writesFiles, "unzip": readsFiles | writesFiles, // -i, -d
	"vim": readsFiles | writesFiles, "vi": readsFiles | writesFiles, "nvim": readsFiles | writesFiles, "nano": readsFiles | writesFiles,
	"ed": readsFiles | writesFiles, "ex": readsFiles | writesFiles, "emacs": readsFiles | writesFiles, "sudoedit": readsFiles | writesFiles,
	"tee": writesFiles, "sponge": writesFiles, "touch": writesFiles, "truncate": writesFiles, "shred": writesFiles, "unlink": writesFiles, "mkdir": writesFiles,
	"rm": writesFiles | wholeFolders, "rmdir": writesFiles, "chmod": writesFiles | wholeFolders, "chown": writesFiles | wholeFolders, "chgrp": writesFiles | wholeFolders,
	"git rm": writesFiles | wholeFolders, "git mv": writesFiles | wholeFolders, "git restore": writesFiles | wholeFolders,
	"git checkout": writesFiles,
}

// filesOf are the files that a well-known program reads or writes, as far as its
// words say; only rules that forbid or ask look at them.
func filesOf(program string, words []word) (t touched) {
	if program == "git" {
		whole := words
		if words, _ = gitWords(words); len(words) > 1 {
			program, words = program+" "+words[1].text, words[1:]
			defer func() { t.below(folderOf(whole[:len(whole)-len(words)])) }()
		}
	}
	use := fileUse[program]
	if program == "awk" || program == "gawk" {
		for _, w := range words[1:] {
			if strings.HasSuffix(w.text, "inplace") {
				use |= writesFiles
			}
		}
	}
	pattern := use&patternFirst != 0
	for i, w := range words[1:] {
		name := w.path()
		option, value, has := strings.Cut(name, "=")
		if option == "-o" || option == "--output" || option == "of" || program == "curl" && option == "-o" || program == "wget" && (option == "-O" || option == "--output-document") {
			if !has && i+2 < len(words) && option != "of" {
				value = words[i+2].path()
			}
			t.writes = append(t.writes, value)
			continue
		}
		if program == "curl" {
			t.reads = append(t.reads, uploaded(name)...)
		}
		if use == 0 {
			continue
		}
		switch dashed := strings.HasPrefix(name, "-"); {
		case (dashed || program == "dd") && has:
			name = value
		case dashed && len(name) > 3 && strings.IndexByte("/~.", name[2]) >= 0: // -f/file
			name = name[2:]
		case dashed:
			pattern = pattern && !strings.HasPrefix(name, "-e") && !strings.HasPrefix(name, "-f")
			continue
		case pattern && !w.known && !w.splits:
			pattern = false
			continue
		default:
			pattern = false
		}
		if use&readsFiles != 0 {
			t.reads = append(t.reads, name)
		}
		if use&writesFiles != 0 {
			t.writes = append(t.writes, name)
		}
	}
	t.whole = use&wholeFolders != 0
	return t
}

// folderOf is the folder that options before a command, -C and --chdir, lead to; empty
// if there is none.
func folderOf(words []word) string {
	folder := ""
	for i, w := range words {
		to, attached := "", false
		for _, option := range []string{"--chdir=", "-C"} {
			if to, attached = strings.CutPrefix(w.path(), option); attached {
				break
			}
		}
		if (w.text == "-C" || w.text == "-D" || w.text == "--chdir") && i+1 < len(words) {
			to, attached = words[i+1].path(), true
		}
		if attached && folder != "" && !strings.HasPrefix(to, "/") {
			to = folder + "/" + to
		}
		if attached {
			folder = to
		}
	}
	return folder
}

// below adds the files as they are told from another folder.
func (t *touched) below(folder string) {
	if folder == "" {
		return
	}
	for _, list := range []*[]string{&t.reads, &t.writes} {
		for _, name := range slices.Clip(*list) {
			if !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "~") {
				*list = append(*list, folder+"/"+name)
			}
		}
	}
}

// uploaded are the files that a word of curl names: @file, name=@file, file://.
func uploaded(text string) []string {
	if file, ok := strings.CutPrefix(text, "file://"); ok {
		return []string{file}
	}
	if _, file, ok := strings.Cut(text, "@"); ok && !strings.Contains(text, "://") {
		return []string{file}
	}
	return nil
}
