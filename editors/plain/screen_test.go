package plain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/bridge/bridgetest"
)

// oldLua attaches Neovim 0.10, which README.md has nothing for.
const oldLua = `
vim.api.nvim_create_autocmd('FileType', { callback = function(a)
	local root = vim.fs.root(a.buf, '.git')
	if root then
		vim.lsp.start({ name = 'sallyport', cmd = { 'sallyport', 'serve' }, root_dir = root }, { bufnr = a.buf })
	end
end })
vim.api.nvim_create_user_command('Ask', function(c)
	vim.lsp.buf.execute_command({
		command = 'sallyport.ask', arguments = { { prompt = c.args, uri = vim.uri_from_bufnr(0) } },
	})
end, { nargs = '+' })
vim.api.nvim_create_autocmd('LspProgress', { callback = vim.schedule_wrap(function() vim.cmd.checktime() end) })
vim.api.nvim_create_autocmd('FileChangedShell', { callback = function(e)
	local ours = vim.v.fcs_reason == 'conflict' and #vim.lsp.get_clients({ bufnr = e.buf, name = 'sallyport' }) > 0
	vim.v.fcs_choice = ours and '' or 'ask'
end })
`

// moreLua is what the tests need besides: the progress in the status line, and
// a command for the mode.
const moreLua = `
vim.o.swapfile = false
function Attached()
	return #vim.lsp.get_clients({ bufnr = 0 })
end
vim.o.statusline = "%t %m attached: %{v:lua.Attached()} progress: %{get(g:, 'progress', '')}"
vim.api.nvim_create_autocmd('LspAttach', { command = 'redrawstatus' })
vim.api.nvim_create_autocmd('LspProgress', { callback = function(event)
	local value = event.data.params.value
	if value.title ~= 'Sallyport: files' then
		vim.g.progress = value.kind == 'end' and 'none' or value.message
	end
	vim.cmd('redrawstatus!')
end })
vim.api.nvim_create_user_command('Mode', function(c)
	vim.lsp.buf_request(0, 'workspace/executeCommand', { command = 'sallyport.setMode', arguments = { c.args } })
end, { nargs = 1 })
`

// readmeLua is the configuration that README.md gives for Neovim.
func readmeLua(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(bridgetest.Root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```lua\n")
	block, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatal("README.md has no Lua")
	}
	return block
}

// openNeovim opens a.txt with these lines in Neovim, in a terminal.
func openNeovim(t *testing.T, version, text string) *terminal {
	t.Helper()
	nvim := bridgetest.Editor(t, "nvim-"+version)
	p := scripted(t)
	p.put("a.txt", text)
	config := oldLua
	if version != "0.10" {
		config = readmeLua(t)
	}
	init := p.Write(t, "home/.config/nvim/init.lua", config+moreLua)
	s := p.open(nvim, "--clean", "-u", init, "a.txt")
	s.shows("it is up", `a\.txt  attached: 1`)
	return s
}

// TestNeovimOnScreen is one turn as a person sees it: with Neovim's own
// questions, in its own main loop.
func TestNeovimOnScreen(t *testing.T) {
	for _, version := range neovims {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := openNeovim(t, version, "one\ntwo\nthree\n")
			s.keys("G", "o", "mine, not saved", "Escape")
			s.shows("the line is typed", `(?s)mine, not saved\n(~\n)+a.txt \[\+\][^\n]*$`)
			s.keys(":Ask please-edit", "Enter")
			s.shows("the question about unsaved text", `(?s)unsaved changes.*a\.txt.*1: Send their text along`)
			s.keys("1", "Enter")
			s.shows("the permission", `(?s)Edit a\.txt.*1: Allow\n2: Reject`)
			s.keys("1", "Enter")
			s.shows("the write, unsaved", `(?s)one\nTWO\nthree\nmine, not saved\n.*a.txt \[\+\]`)
			s.shows("the end", `progress: none`)
			s.shows("the conversation follows, and has no client", `(?s)Turn of.*\.md  attached: 0.*a.txt \[\+\] attached: 1`)
			s.keys("u")
			s.shows("undone", `(?s)one\ntwo\nthree\nmine, not saved\n.*a.txt \[\+\]`)
			if got := s.disk("a.txt"); got != "one\ntwo\nthree\n" {
				t.Errorf("the file on disk is %q", got)
			}
			s.keys(":qa!", "Enter")
		})
	}
}

// TestNeovimUndoOnScreen has the agent write while the user types, in Neovim's
// own main loop, which is what ends undo steps.
func TestNeovimUndoOnScreen(t *testing.T) {
	for _, version := range neovims {
		for _, test := range []struct {
			name          string
			typed         []string // keys, before the write
			more          []string // after it
			before, after string   // the lines then, and after u
		}{
			// The user's change and the agent's are two steps, also when no key
			// is pressed between them.
			{"normal mode", []string{"3", "G", "x"}, nil, `one\nTWO\nhree`, `one\ntwo\nhree`},
			// A known limit of LSP in Neovim: what comes while one is inserting
			// becomes part of the insertion.
			{"insert mode", []string{"G", "o", "four"}, []string{" five", "Escape"}, `one\nTWO\nthree\nfour five`, `one\ntwo\nthree\n~`},
		} {
			t.Run(version+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				s := openNeovim(t, version, "one\ntwo\nthree\n")
				s.keys(":Mode acceptEdits", "Enter")
				s.shows("the mode", `mode acceptEdits`)
				s.keys(":Ask please-wait", "Enter")
				s.comes("ready.txt")
				s.keys(test.typed...)
				s.shows("it is typed", `a\.txt \[\+\]`)
				s.put("go.txt", "go")
				s.shows("the write", `(?s)one\nTWO`)
				if test.more != nil {
					s.keys(test.more...)
				}
				s.shows("all of it", `(?s)`+test.before)
				s.shows("the end", `progress: none`)
				s.keys("u")
				s.shows("undone", `(?s)`+test.after)
				s.keys(":qa!", "Enter")
			})
		}
	}
}
