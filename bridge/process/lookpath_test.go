package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestL7_LookPathOnWindows(t *testing.T) {
	files := map[string]bool{
		`C:\npm\agent.cmd`:       true,
		`C:\npm\agent`:           true, // a shell script for other systems
		`C:\bin dir\tool.exe`:    true,
		`C:\npm\tool.bat`:        true,
		`D:\x\own.exe`:           true,
		`relative\evil.exe`:      true,
		`evil.exe`:               true,
		`\\server\share\net.exe`: true,
	}
	env := []string{`Path=relative;.;"C:\bin dir";C:\npm\;\\server\share`, "PATHEXT=.COM;.EXE;.BAT;.CMD"}
	tests := []struct{ name, want string }{
		{"agent", `C:\npm\agent.cmd`},
		{"agent.cmd", `C:\npm\agent.cmd`},
		{"AGENT.CMD", ``}, // the test's file system does not fold
		{"tool", `C:\bin dir\tool.exe`},
		{"tool.bat", `C:\npm\tool.bat`},
		{"net", `\\server\share\net.exe`},
		{"evil", ``},
		{"missing", ``},
		{"", ``},
		{`D:\x\own`, `D:\x\own.exe`},
		{`D:\x\own.exe`, `D:\x\own.exe`},
		{`D:\x\other`, ``},
	}
	for _, tt := range tests {
		got, err := lookPath(tt.name, env, true, func(path string) bool { return files[path] })
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q: got %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestLookPath(t *testing.T) {
	files := map[string]bool{"/a/x": true, "/b/x": true, "/b/y": true, "rel/z": true, "z": true, "/c/d/w": true}
	env := []string{"PATH=/first", "PATH=/a/:/b:rel::."} // the last one counts
	for name, want := range map[string]string{"x": "/a/x", "y": "/b/y", "z": "", "/c/d/w": "/c/d/w", "/c/d/v": "", "w": ""} {
		got, err := lookPath(name, env, false, func(path string) bool { return files[path] })
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", name, got, err, want)
		}
	}
	_, err := lookPath("goose", env, false, func(string) bool { return false })
	var missing *NotFoundError
	if !errors.As(err, &missing) || !errors.Is(err, exec.ErrNotFound) ||
		err.Error() != "program goose not found on PATH /a/:/b:rel::." {
		t.Errorf("got %v", err)
	}
}

func TestL6_MissingInterpreter(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no scripts of this kind on Windows")
	}
	dir := t.TempDir()
	env := []string{"PATH=" + dir + ":/usr/bin:/bin"}
	script := func(first string) string {
		path := filepath.Join(dir, "agent")
		if err := os.WriteFile(path, []byte(first+"\nbody\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct{ first, missing string }{
		{"#!/bin/sh", ""},
		{"#! /usr/bin/env sh", ""},
		{"#!/usr/bin/env -S A=1 no-such-node --flag", "no-such-node"},
		{"#!/usr/bin/env no-such-node", "no-such-node"},
		{"#!/opt/no/such/node", "/opt/no/such/node"},
		{"#!", ""},
		{"", ""},
		{"\x7fELF", ""},
	}
	for _, tt := range tests {
		path := script(tt.first)
		err := CheckScript(path, env)
		var missing *NotFoundError
		switch {
		case tt.missing == "" && err == nil:
		case errors.As(err, &missing) && missing.Name == tt.missing && missing.Script == path:
		default:
			t.Errorf("%q: got %v, want %q missing", tt.first, err, tt.missing)
		}
	}
	path := script("#!/usr/bin/env no-such-node")
	_, err := Start(t.Context(), Spec{Path: path, Env: env})
	if err == nil || !strings.Contains(err.Error(), "no-such-node not found on PATH "+dir) {
		t.Errorf("Start: got %v", err)
	}
	if err := CheckScript(filepath.Join(dir, "absent"), env); err != nil {
		t.Errorf("absent: got %v", err)
	}
}

func TestL6_LoginShellPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no login shell on Windows")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bin := filepath.Join(dir, "nvm")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	write("nvm/shell-node", "#!/bin/sh\n")
	agent := write("agent", "#!/usr/bin/env shell-node\n")
	shell := write("shell", "#!/bin/sh\necho welcome '$PATH'\necho asked >>"+dir+"/asked\nPATH="+bin+":/bin\nshift 3\neval \"$1\"\n")
	host := []string{"SHELL=" + shell, "PATH=/usr/bin:/bin:" + dir}
	env := []string{"PATH=/usr/bin:/bin:" + dir, "B=2"}

	f := &Finder{Host: host}
	for range 2 {
		path, found, err := f.Find(t.Context(), "shell-node", env)
		if err != nil || path != filepath.Join(bin, "shell-node") || strings.Join(found, " ") != "B=2 PATH="+bin+":/bin" {
			t.Fatalf("node: got %q, %q, %v", path, found, err)
		}
	}
	if _, _, err := f.Find(t.Context(), "absent", env); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("absent: got %v", err)
	}
	if path, found, err := f.Find(t.Context(), agent, env); err != nil || path != agent || strings.Join(found, " ") != "B=2 PATH="+bin+":/bin" {
		t.Errorf("script: got %q, %q, %v", path, found, err)
	}
	if path, found, err := f.Find(t.Context(), "sh", env); err != nil || len(found) != 2 || found[0] != env[0] {
		t.Errorf("sh: got %q, %q, %v", path, found, err)
	}
	if asked, _ := os.ReadFile(filepath.Join(dir, "asked")); string(asked) != "asked\n" {
		t.Errorf("the shell was asked %q", asked)
	}

	for name, script := range map[string]string{
		"silent": "#!/bin/sh\nexit 1\n",
		"absent": "",
	} {
		host := []string{"SHELL=" + filepath.Join(dir, name)}
		if script != "" {
			write(name, script)
		}
		if got, err := ShellPath(t.Context(), host); err == nil {
			t.Errorf("%s: got %q", name, got)
		}
	}
	if _, err := ShellPath(t.Context(), nil); err == nil {
		t.Error("no SHELL: no error")
	}
}

func TestShellPath_IsBounded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no login shell on Windows")
	}
	shell := filepath.Join(t.TempDir(), "shell")
	if err := os.WriteFile(shell, []byte("#!/bin/sh\ntrap '' TERM\nsleep 1000\nsleep 1000\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := newDeadline(t)
	defer cancel()
	if got, err := ShellPath(ctx, []string{"SHELL=" + shell, "PATH=/usr/bin:/bin"}); err == nil {
		t.Errorf("got %q", got)
	}
}
