-- An agent's write into buffers of every shape: what the buffer and the file hold afterwards, byte for byte.
local child = require("spec.child")
local t = require("spec.check")
local disk, put = child.disk, child.put

--- Runs a write of `want` over `before`, with keys or a command in between.
local function write(n, before, want, prepare)
  put("a.txt", before)
  put("want.txt", want)
  n:cmd("edit a.txt")
  if prepare then
    prepare(n)
  end
  n:accepting()
  n:turn("please-put")
end

local shapes = {
  { "unix", "one\ntwo\n", "one\nTWO\n" },
  { "dos", "one\r\ntwo\r\n", "one\nTWO\nthree\n", "one\r\nTWO\r\nthree\r\n" },
  { "a byte order mark", "\239\187\191one\ntwo\n", "one\nTWO\n", "\239\187\191one\nTWO\n" },
  { "no last line end, one added", "one\ntwo", "one\nTWO\n" },
  { "an empty file", "", "one\n" },
  { "emptied", "one\ntwo\n", "", "" },
  { "a file that is all new", "one\n", "a\nb\nc\n" },
  { "wide characters", "x😀y\nénd\n", "x😀Y\nénd!\n" },
}

for _, shape in ipairs(shapes) do
  local name, before, want, expected = unpack(shape)
  child.test(name, function(n)
    write(n, before, want)
    t.same(disk("error.txt"), "")
    t.same(disk("a.txt"), expected or want)
    t.same(n:lua([[return vim.bo[vim.fn.bufnr("a.txt")].modified]]), false, "modified")
  end)
end

child.test("no last line end, and it stays so with nofixeol", function(n)
  write(n, "one\ntwo", "one\nTWO", function()
    n:cmd("set nofixeol")
  end)
  t.same(disk("a.txt"), "one\nTWO")
end)

child.test("a hidden buffer", function(n)
  write(n, "one\ntwo\n", "one\nTWO\n", function()
    n:cmd("enew")
  end)
  t.same(n:text("a.txt"), "one\nTWO")
  t.same(disk("a.txt"), "one\nTWO\n")
end)

child.test("an unloaded buffer is the file", function(n)
  write(n, "one\ntwo\n", "one\nTWO\n", function()
    n:cmd("enew")
    n:cmd("bunload a.txt")
  end)
  t.same(disk("a.txt"), "one\nTWO\n")
end)

child.test("a buffer in two windows keeps both views", function(n)
  local lines = {}
  for i = 1, 100 do
    lines[i] = "line " .. i
  end
  local before = table.concat(lines, "\n") .. "\n"
  write(n, before, "zero\n" .. before, function()
    n:cmd("split")
    n:cmd("normal! 50Gzt")
    n:cmd("wincmd w")
    n:cmd("normal! 80Gzt")
  end)
  local tops = n:lua(
    [[return vim.tbl_map(function(w) return vim.fn.getwininfo(w)[1].topline end, vim.api.nvim_tabpage_list_wins(0))]]
  )
  t.same(tops, { 51, 81 })
end)

child.test("a read-only buffer is not changed, and the agent hears why", function(n)
  write(n, "one\ntwo\n", "one\nTWO\n", function()
    n:cmd("setlocal readonly")
  end)
  t.same(n:text("a.txt"), "one\ntwo")
  t.same(disk("a.txt"), "one\ntwo\n")
  t.same(disk("error.txt"):find("read%-only") ~= nil, true, disk("error.txt"))
end)

child.test("a buffer with unsaved text keeps it, and is not saved", function(n)
  write(n, "one\ntwo\nthree\n", "one\nTWO\nthree\nunsaved\n", function()
    n:keys("Gounsaved<Esc>")
    n:wait("the text", [[vim.bo.modified]])
  end)
  t.same(n:text("a.txt"), "one\nTWO\nthree\nunsaved")
  t.same(disk("a.txt"), "one\ntwo\nthree\n")
end)

child.test("a macro that is being recorded holds the keys alone", function(n)
  write(n, "one\ntwo\n", "one\nTWO\n", function()
    n:keys("qqggAx<Esc>")
    n:wait("the recording", [[vim.fn.reg_recording() == "q" and vim.api.nvim_get_mode().mode == "n"]])
    n:cmd("write")
    put("want.txt", "onex\nTWO\n")
  end)
  n:keys("q")
  n:wait("its end", [[vim.fn.reg_recording() == ""]])
  t.same(n:lua([[return vim.fn.keytrans(vim.fn.getreg("q"))]]), "ggAx<Esc>")
  t.same(n:text("a.txt"), "onex\nTWO")
end)

child.test("a completion menu that is open, in Insert mode", function(n)
  put("a.txt", "alpha\nalphabet\n")
  for i = 0, 9 do -- the first swap changes another line, the others nothing
    put(("old%d.txt"):format(i), i == 0 and "alpha\n" or "alphabet")
    put(("new%d.txt"):format(i), i == 0 and "ALPHA\n" or "alphabet")
  end
  n:cmd("edit a.txt")
  n:cmd("set completeopt=menuone,noinsert,noselect")
  n:accepting()
  n:keys("Goal<C-n>")
  n:wait("the menu", [[vim.fn.pumvisible() == 1]])
  n:ask("please-swap")
  n:keys("i")
  n:wait("the turn", [[vim.list_contains(_G.events, "SallyportTurnEnd")]])
  t.same(n:lua([[return vim.api.nvim_get_mode().mode:sub(1, 1)]]), "i", "Insert mode goes on")
  n:keys("ve<Esc>")
  n:wait("Normal mode", [[vim.api.nvim_get_mode().mode == "n"]])
  t.same(n:text("a.txt"), "ALPHA\nalphabet\nalive")
end)

child.test("a large file", function(n)
  local lines = {}
  for i = 1, 50000 do
    lines[i] = "line number " .. i
  end
  local before = table.concat(lines, "\n") .. "\n"
  lines[25000] = "LINE"
  local want = table.concat(lines, "\n") .. "\n"
  write(n, before, want)
  t.same(disk("error.txt"), "")
  t.same(disk("a.txt") == want, true)
end)

child.test("a file that somebody else changed meanwhile is not overwritten", function(n)
  put("a.txt", "one\ntwo\n")
  n:cmd("edit a.txt")
  n:accepting()
  n:turn("please-tell me")
  put("a.txt", "other\n")
  local r = n:lua([[
    local buf = vim.fn.bufnr("a.txt")
    local text = require("sallyport.text")
    return require("sallyport.apply").handle({
      uri = vim.uri_from_bufnr(buf), version = vim.lsp.util.buf_versions[buf], hash = text.hash(text.of(buf)),
      edits = { { range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 3 } }, newText = "ONE" } },
      save = true, label = "",
    })
  ]])
  t.same({ r.status, r.saved }, { "applied", false })
  t.same(disk("a.txt"), "other\n")
end)

child.test("what an agent's own tools wrote shows in a clean buffer, which stays clean", function(n)
  put("a.txt", "one\ntwo\nthree\n")
  n:cmd("edit a.txt")
  n:cmd("normal! 3Gmm")
  n:accepting()
  n:turn("please-shell")
  n:wait("the new text", [[vim.api.nvim_buf_get_lines(vim.fn.bufnr("a.txt"), 0, 1, true)[1] == "SHELL"]])
  n:wait("a clean buffer", [[not vim.bo[vim.fn.bufnr("a.txt")].modified]])
  t.same(disk("a.txt"), "SHELL\none\ntwo\nthree\n")
  t.same(n:lua([[return vim.fn.line("'m")]]), 4, "the mark moved along")
  n:cmd("write") -- would stop and ask if Neovim thought the file newer
end)

child.test("what an agent's own tools wrote is merged into unsaved text", function(n)
  put("a.txt", "one\ntwo\nthree\n")
  n:cmd("edit a.txt")
  n:keys("Gomine<Esc>")
  n:wait("the text", [[vim.bo.modified]])
  n:accepting()
  n:turn("please-shell")
  n:wait(
    "both",
    [[table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr("a.txt"), 0, -1, true), "\n") == "SHELL\none\ntwo\nthree\nmine"]]
  )
  t.same(n:lua([[return vim.bo[vim.fn.bufnr("a.txt")].modified]]), true)
  t.same(disk("a.txt"), "SHELL\none\ntwo\nthree\n")
end)
