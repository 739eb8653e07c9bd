-- Edits of buffers, byte for byte: what a buffer holds after them is what the server's own text holds.
local t = require("spec.check")
local text = require("sallyport.text")

--- The same edits on a plain string, as the server makes them: UTF-16 positions, last to first.
local function expected(before, edits)
  local function offset(p)
    local at, line = 1, 0
    while line < p.line do
      local nl = before:find("\n", at, true)
      if not nl then
        return #before
      end
      at, line = nl + 1, line + 1
    end
    local stop = before:find("\r?\n", at) or #before + 1
    local body = before:sub(at, stop - 1)
    return at - 1 + vim.str_byteindex(body, math.min(p.character, select(2, vim.str_utfindex(body))), true)
  end
  for _, e in ipairs(edits) do
    local from, to = offset(e.range.start), offset(e.range["end"])
    before = before:sub(1, from) .. e.newText .. before:sub(to + 1)
  end
  return before
end

local function edit(l1, c1, l2, c2, new)
  return { range = { start = { line = l1, character = c1 }, ["end"] = { line = l2, character = c2 } }, newText = new }
end

local cases = {
  { "in a line", "one\ntwo\n", { edit(1, 0, 1, 3, "TWO") } },
  { "two in one line, last first", "one two\n", { edit(0, 4, 0, 7, "2"), edit(0, 0, 0, 3, "1") } },
  { "lines added in the middle", "a\nb\n", { edit(1, 0, 1, 0, "x\ny\n") } },
  { "lines taken out", "a\nb\nc\n", { edit(0, 1, 2, 0, "\n") } },
  { "a line added at the end", "a\n", { edit(1, 0, 1, 0, "b\n") } },
  { "two lines added at the end", "a\n", { edit(1, 0, 1, 0, "b\nc\n") } },
  { "the last line taken out", "a\nb\n", { edit(1, 0, 2, 0, "") } },
  { "everything taken out", "a\nb\n", { edit(0, 0, 2, 0, "") } },
  { "everything replaced", "a\nb\n", { edit(0, 0, 2, 0, "c\nd\ne\n") } },
  { "an empty line at the end", "a\n", { edit(1, 0, 1, 0, "\n") } },
  { "the final line end taken off", "a\nb\n", { edit(1, 1, 2, 0, "") } },
  { "text behind the final line end", "a\n", { edit(1, 0, 1, 0, "b") } },
  { "a final line end added", "a", { edit(0, 1, 0, 1, "\n") } },
  { "a line added where none ends", "a", { edit(0, 1, 0, 1, "\nb") } },
  { "beyond the basic plane", "x😀y😀z\n", { edit(0, 4, 0, 6, "…"), edit(0, 0, 0, 1, "é") } },
  { "an empty file filled", "", { edit(0, 0, 0, 0, "a\nb\n") } },
  { "with CRLF", "a\r\nb\r\n", { edit(1, 0, 1, 1, "B\r\nC") } },
  { "a CRLF line added at the end", "a\r\n", { edit(1, 0, 1, 0, "b\r\n") } },
}

for _, case in ipairs(cases) do
  local name, before, edits = unpack(case)
  t.test(name, function()
    vim.cmd("silent %bwipeout!")
    local path = t.file("f.txt", before)
    vim.cmd.edit(vim.fn.fnameescape(path))
    local buf = vim.api.nvim_get_current_buf()
    local seen = text.of(buf)
    if before ~= "" then -- Neovim has no text without a line
      t.same(seen, before, "the text as it is sent")
    end
    text.apply(buf, vim.deepcopy(edits), "utf-16")
    t.same(text.of(buf), expected(seen, edits), "the text after the edits")
    vim.cmd("silent undo")
    local lines = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), "\n")
    t.same(lines, (before:gsub("\r\n", "\n"):gsub("\n$", "")), "one undo")
    vim.cmd("bwipeout!")
  end)
end

t.test("cursor, marks and folds stay", function()
  local path = t.file("f.txt", "a\nb\nc\nd\ne\n")
  vim.cmd.edit(vim.fn.fnameescape(path))
  local buf = vim.api.nvim_get_current_buf()
  vim.cmd("2,3fold")
  vim.cmd("4mark m")
  vim.api.nvim_win_set_cursor(0, { 4, 0 })
  text.apply(buf, { edit(4, 0, 4, 1, "E"), edit(0, 0, 0, 1, "x\ny") }, "utf-16")
  t.same(vim.api.nvim_win_get_cursor(0)[1], 5, "cursor")
  t.same(vim.fn.line("'m"), 5, "mark")
  t.same(vim.fn.foldclosed(3), 3, "fold")
  vim.cmd("bwipeout!")
end)
