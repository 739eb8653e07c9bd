-- A real agent edits a buffer with unsaved text, asks by a card that a key answers, and the turn is taken back.
local child = require("spec.child")
local t = require("spec.check")

child.test("a real agent edits a dirty buffer", function(n)
  child.put("notes.txt", "alpha\nbeta\ngamma\n")
  n:cmd("edit notes.txt")
  n:keys("Gomine, not saved<Esc>")
  n:lua([[vim.ui.select = function(items, _, done) done(items[2]) end]]) -- unsaved text is sent along
  n:lua(
    [[_G.float = function() return #vim.tbl_filter(function(w) return vim.api.nvim_win_get_config(w).relative ~= "" end, vim.api.nvim_list_wins()) end]]
  )
  -- The picker of the unsaved question is the user's own; permissions use the float all the same.
  n:lua([[require("sallyport.card").own_picker = function() return false end]])
  -- The scripted model counts messages, and Gemini CLI splits a prompt of several blocks.
  n:lua([[require("sallyport").setup({ context = false })]])
  n:ask("script:edit cwd=" .. vim.env.NVIM_PROJECT)
  t.wait("the end of the turn", function()
    if n:lua("return _G.float()") > 0 then
      n:cmd("Sallyport answer")
      n:keys("a")
    end
    return n:lua([[return vim.list_contains(_G.events, "SallyportTurnEnd")]])
  end, 240000)
  local text = n:text("notes.txt")
  t.same(text:find("mine, not saved", 1, true) ~= nil, true, n:conversation() .. text)
  local both = text .. (child.disk("notes.txt") or "")
  t.same(both:find("BETA", 1, true) ~= nil, true, n:conversation() .. n:state())
  n:cmd("Sallyport undo")
  n:wait("the undo", [[vim.iter(_G.notes):any(function(x) return x.text:find("taken back", 1, true) ~= nil end)]])
  local now = n:text("notes.txt") .. child.disk("notes.txt")
  t.same({ now:find("BETA", 1, true) ~= nil, now:find("mine, not saved", 1, true) ~= nil }, { false, true }, n:state())
end)
