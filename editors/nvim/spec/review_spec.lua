-- What a turn changed is listed, looked at and taken back.
local child = require("spec.child")
local patch = require("sallyport.patch")
local t = require("spec.check")
local disk, put = child.disk, child.put

t.test("hunks are read, found again and taken back", function()
  local unified = "--- a\n+++ a\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n@@ -9 +9,2 @@\n nine\n+ten\n"
  local hunks = patch.hunks(unified)
  t.same(#hunks, 2)
  t.same(
    { hunks[1].old, hunks[1].new, hunks[1].head },
    { { "one", "two", "three" }, { "one", "TWO", "three" }, "-two" }
  )
  local now = { "zero", "one", "TWO", "three", "nine", "ten" }
  t.same(patch.find(now, hunks[1]), 2)
  t.same(patch.before(now, hunks), { "zero", "one", "two", "three", "nine" })
  t.same(patch.before({ "one", "2", "three" }, hunks), nil)
end)

child.test("a turn is taken back and done again", function(n)
  put("a.txt", "one\ntwo\nthree\n")
  put("want.txt", "one\nTWO\nthree\n")
  n:cmd("edit a.txt")
  n:accepting()
  n:turn("please-put")
  t.same(disk("a.txt"), "one\nTWO\nthree\n")
  n:cmd("Sallyport undo")
  n:wait("the undo", [[vim.iter(_G.notes):any(function(x) return x.text:find("taken back", 1, true) ~= nil end)]])
  t.same(disk("a.txt"), "one\ntwo\nthree\n")
  t.same(n:text("a.txt"), "one\ntwo\nthree")
  t.same(disk("seen.txt"), nil, "what the turn made is gone")
  n:cmd("Sallyport redo")
  n:wait("the redo", [[vim.iter(_G.notes):any(function(x) return x.text:find("done again", 1, true) ~= nil end)]])
  t.same(disk("a.txt"), "one\nTWO\nthree\n")
  t.same(n:text("a.txt"), "one\nTWO\nthree")
end)

child.test("what changed since is asked about", function(n)
  put("a.txt", "one\ntwo\nthree\n")
  put("want.txt", "one\nTWO\nthree\n")
  n:cmd("edit a.txt")
  n:accepting()
  n:turn("please-put")
  n:keys("Gomine<Esc>")
  n:wait("the text", [[vim.bo.modified]])
  n:lua([[vim.ui.select = function(items, opts, done) _G.asked = opts.prompt; done(items[_G.pick]) end; _G.pick = 1]])
  n:cmd("Sallyport undo")
  n:wait("the question", "_G.asked")
  t.same(n:text("a.txt"), "one\nTWO\nthree\nmine", "left alone")
  t.same(n:lua("return _G.asked"):find("a.txt", 1, true) ~= nil, true)
end)

child.test("the review lists hunks, shows a diff and takes a hunk back", function(n)
  put("a.txt", "one\ntwo\nthree\n")
  put("want.txt", "one\nTWO\nthree\n")
  n:cmd("edit a.txt")
  n:accepting()
  n:turn("please-put")
  n:cmd("Sallyport review")
  n:wait("the list", [[#vim.fn.getqflist() > 0]])
  local list = n:lua([[
    return vim.tbl_map(function(x) return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(x.bufnr), ":t") .. ":" .. x.lnum .. " " .. x.text end, vim.fn.getqflist())
  ]])
  t.same(list[1], "a.txt:1 [modified, mediated] -two")
  n:cmd("cclose | buffer a.txt")
  n:cmd("Sallyport diff")
  t.same(
    n:lua([[return vim.tbl_map(function(w) return vim.wo[w].diff end, vim.api.nvim_tabpage_list_wins(0))]]),
    { true, true }
  )
  n:cmd("normal! 2G")
  n:cmd("Sallyport back")
  t.same(n:text("a.txt"), "one\ntwo\nthree")
  n:cmd("silent undo")
  t.same(n:text("a.txt"), "one\nTWO\nthree")
end)

child.test("the receipt is shown", function(n)
  put("a.txt", "one\n")
  put("want.txt", "two\n")
  n:accepting()
  n:turn("please-put")
  n:cmd("Sallyport receipt")
  n:wait("the receipt", [[vim.api.nvim_buf_get_name(0):find("receipt", 1, true)]])
  t.same(
    n:lua([[return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n")]]):find("a.txt", 1, true) ~= nil,
    true
  )
end)
