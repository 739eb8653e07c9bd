-- One turn against the real server and the scripted agent.
local child = require("spec.child")
local t = require("spec.check")

local function disk(name)
  local file = io.open(vim.env.NVIM_PROJECT .. "/" .. name, "rb")
  local content = file and file:read("*a")
  if file then
    file:close()
  end
  return content
end

local function put(name, content)
  local file = assert(io.open(vim.env.NVIM_PROJECT .. "/" .. name, "wb"))
  file:write(content)
  file:close()
end

local function with(f)
  return function()
    local n = child.start()
    local ok, err = xpcall(f, debug.traceback, n)
    n:stop()
    if not ok then
      error(err, 0)
    end
  end
end

--- Waits for the card and goes to it.
local function card(n)
  n:wait("the float", [[#vim.tbl_filter(function(w) return vim.api.nvim_win_get_config(w).relative ~= "" end, vim.api.nvim_list_wins()) == 1]])
  t.same(n:lua([[return vim.api.nvim_win_get_config(0).relative]]), "", "the float does not take the focus")
  n:cmd("Sallyport answer")
  n:wait("the focus", [[vim.api.nvim_win_get_config(0).relative ~= ""]])
end

t.test("an answer streams into the conversation", with(function(n)
  n:cmd("Sallyport open")
  n:wait("the prompt", [[vim.bo.filetype == "sallyport-prompt"]])
  n:keys("please-tell me<C-s>")
  n:wait("the end of the turn", [[vim.list_contains(_G.events, "SallyportTurnEnd")]])
  t.same(n:conversation():match("I was asked: [^\n]*"), "I was asked: please-tell me")
end))

t.test("a permission is answered by a key, and the write is one undo step", with(function(n)
  put("a.txt", "one\ntwo\nthree\n")
  n:cmd("edit a.txt")
  n:keys("ggOtyped<Esc>")
  n:ask("please-edit")
  n:wait("the card", [[#(require("sallyport.session").get() or { cards = {} }).cards == 1]])
  card(n)
  n:keys("a")
  n:wait("the end of the turn", [[vim.list_contains(_G.events, "SallyportTurnEnd")]])
  t.same(n:text("a.txt"), "typed\none\nTWO\nthree")
  t.same(disk("a.txt"), "one\ntwo\nthree\n", "nothing is saved over what was typed")
  n:cmd("buffer a.txt")
  n:cmd("silent undo")
  t.same(n:text("a.txt"), "typed\none\ntwo\nthree")
  n:cmd("silent undo")
  t.same(n:text("a.txt"), "one\ntwo\nthree")
  t.same(n:conversation():match("✓ allowed by you: Edit a.txt"), "✓ allowed by you: Edit a.txt")
end))

t.test("a write into a clean buffer is saved", with(function(n)
  put("a.txt", "one\ntwo\nthree\n")
  n:cmd("edit a.txt")
  n:ask("please-edit")
  card(n)
  n:keys("a")
  n:wait("the end of the turn", [[vim.list_contains(_G.events, "SallyportTurnEnd")]])
  t.same(disk("a.txt"), "one\nTWO\nthree\n")
  t.same(n:lua([[return vim.bo[vim.fn.bufnr("a.txt")].modified]]), false)
end))

t.test("a refusal reaches the agent", with(function(n)
  put("a.txt", "one\ntwo\n")
  n:cmd("edit a.txt")
  n:ask("please-edit")
  card(n)
  n:keys("r")
  n:wait("the end of the turn", [[vim.list_contains(_G.events, "SallyportTurnEnd")]])
  t.same(n:text("a.txt"), "one\ntwo")
  t.same(n:conversation():match("You said no."), "You said no.")
end))

t.test("cancel withdraws the card", with(function(n)
  put("a.txt", "one\ntwo\n")
  n:cmd("edit a.txt")
  n:ask("please-edit")
  card(n)
  n:cmd("Sallyport cancel")
  n:wait("the end of the turn", [[vim.list_contains(_G.events, "SallyportTurnEnd")]])
  t.same(n:lua([[return vim.api.nvim_win_get_config(0).relative]]), "", "the float is gone")
  t.same(n:text("a.txt"), "one\ntwo")
end))

t.test("insert mode goes on while the agent writes", with(function(n)
  put("a.txt", "one\ntwo\nthree\n")
  n:cmd("edit a.txt")
  n:keys("Gofour ")
  n:ask("please-edit")
  n:wait("the card", [[#(require("sallyport.session").get() or { cards = {} }).cards == 1]])
  n:keys("five ")
  n:lua([[
    local c = require("sallyport.session").get().cards[1].card
    require("sallyport").answer(c.permissionId, c.options[1].optionId)
  ]])
  n:keys("six")
  n:wait("the end of the turn", [[vim.list_contains(_G.events, "SallyportTurnEnd")]])
  n:keys(" seven<Esc>")
  n:wait("what was typed", [[vim.api.nvim_get_mode().mode == "n"]])
  t.same(n:text("a.txt"), "one\nTWO\nthree\nfour five six seven")
end))
