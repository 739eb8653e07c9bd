-- Cards that are being decided: first the server's messages alone, in an order that no clock has a part in; then a decider
-- of the real server.
local child = require("spec.child")
local t = require("spec.check")

local disk, put = child.disk, child.put

--- Gives Neovim what the server would send.
local function prepare(n)
  n:lua([[
    local card = require("sallyport.card")
    require("sallyport.session").opened({ sessionId = "s1", agent = "scripted", modes = {}, capabilities = {} })
    _G.answers = {}
    function _G.ask(id, deciding)
      coroutine.wrap(function()
        local result = card.ask({
          permissionId = id, sessionId = "s1", turnId = "t1", title = "Bash " .. id, deciding = deciding,
          request = { id = id, kind = "command", tool = "Bash", input = { command = "make " .. id } },
          options = { { optionId = "once", name = "Allow", kind = "allow_once" }, { optionId = "no", name = "Reject", kind = "reject_once" } },
          diffs = {}, paths = {},
        })
        _G.answers[id] = result.optionId
      end)()
    end
    function _G.call(id, reason)
      card.called({ permissionId = id, sessionId = "s1", reason = reason })
    end
    function _G.settle(id, outcome)
      card.settled({ permissionId = id, sessionId = "s1", turnId = "t1", title = "Bash " .. id, request = {}, outcome = outcome })
    end
    _G.now = 1000
    vim.uv.now = function() return _G.now end
    function _G.floats()
      return #vim.tbl_filter(function(w) return vim.api.nvim_win_get_config(w).relative ~= "" end, vim.api.nvim_list_wins())
    end
  ]])
end

--- What calls a person: floats, events and the count in the status line.
local function calls(n)
  return n:lua([[return _G.floats() .. " " .. #vim.tbl_filter(function(e)
    return e == "SallyportPermission"
  end, _G.events) .. " " .. require("sallyport").statusline()]])
end

local function line(n, pattern)
  return n:conversation():match(pattern)
end

child.test("a card that is being decided calls nobody, and the call does", function(n)
  prepare(n)
  n:lua([[_G.ask("p1", true)]])
  t.same(calls(n), "0 0 scripted")
  t.same(line(n, "being decided[^\n]*"), "being decided; you can answer already")
  n:lua([[_G.call("p1", "a page came in")]])
  t.same(calls(n), "1 1 scripted ?1")
  t.same(line(n, "being decided"), nil)
  t.same(line(n, "you are asked because[^\n]*"), "you are asked because a page came in")
  n:lua([[require("sallyport").answer("p1", "once")]])
  t.same(n:lua([[return _G.answers.p1]]), "once")
end)

child.test("a decider that settles it says who and why", function(n)
  prepare(n)
  n:lua([[_G.ask("p1", true)]])
  n:lua([[_G.settle("p1", { allowed = false, by = "decider", name = "Team rules", why = "no rm -rf here" })]])
  t.same(line(n, "[^\n]*Team rules[^\n]*"), "✗ Denied by Team rules — no rm -rf here: Bash p1")
  n:lua([[_G.ask("p2", true)]])
  n:lua([[_G.settle("p2", { allowed = true, by = "decider", name = "Team rules" })]])
  t.same(line(n, "[^\n]*: Bash p2"), "✓ Allowed by Team rules: Bash p2")
  t.same(line(n, "being decided"), nil)
  t.same(calls(n), "0 0 scripted")
  t.same(n:lua([[return _G.answers.p1 .. _G.answers.p2]]), "")
end)

child.test("it can be answered by a key meanwhile", function(n)
  prepare(n)
  n:lua([[require("sallyport.view").open(require("sallyport.session").get())]])
  n:lua([[_G.ask("p1", true) _G.now = _G.now + 300]])
  n:keys("r")
  n:wait("the answer", [[_G.answers.p1 == "no"]])
end)

child.test("a key answers who was called before who is being decided", function(n)
  prepare(n)
  n:lua([[require("sallyport.view").open(require("sallyport.session").get())]])
  n:lua([[_G.ask("p1", true) _G.ask("p2", false) _G.now = _G.now + 300]])
  n:keys("a")
  n:wait("the answer", [[_G.answers.p2 == "once"]])
  t.same(n:lua([[return _G.answers.p1]]), vim.NIL)
end)

child.test("a key that was meant for a card that has just ended answers no other", function(n)
  prepare(n)
  n:lua([[require("sallyport.view").open(require("sallyport.session").get())]])
  n:lua([[_G.ask("p1", true) _G.ask("p2", true) _G.now = _G.now + 1000]])
  n:lua([[_G.settle("p1", { allowed = false, by = "decider", name = "Team rules" }) _G.now = _G.now + 299]])
  n:keys("a:let g:typed = 1<CR>")
  n:wait("the keys", [[vim.g.typed == 1]])
  t.same(n:lua([[return _G.answers.p2]]), vim.NIL)
  n:lua([[_G.now = _G.now + 1]])
  n:keys("a")
  n:wait("the answer", [[_G.answers.p2 == "once"]])
end)

child.test("the float that the user opened follows the call, and closes with the card", function(n)
  prepare(n)
  n:lua([[_G.ask("p1", true)]])
  n:cmd("Sallyport answer")
  local function float()
    return n:lua([[return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n")]])
  end
  t.same(float():match("being decided") ~= nil, true)
  n:lua([[_G.call("p1")]])
  t.same(float():match("being decided"), nil)
  t.same(float():match("make p1"), "make p1", "it keeps the focus")
  n:lua([[_G.settle("p1", { allowed = false, by = "cancel", why = "the turn was cancelled" })]])
  t.same(n:lua([[return _G.floats()]]), 0)
  t.same(line(n, "✗[^\n]*"), "✗ Withdrawn — the turn was cancelled: Bash p1")
end)

--- What the decider says from now on.
local function say(answer)
  local file = assert(io.open(vim.env.HOME .. "/rules/say", "w"))
  file:write(answer .. "\n")
  file:close()
end

--- Runs turns until the decider answered in time: the machine may be busy.
local function decided(n, verdict)
  for _ = 1, 5 do
    put("a.txt", "one\ntwo\nthree\n")
    n:cmd("edit! a.txt")
    n:lua([[_G.events = {}]])
    n:ask("please-edit")
    n:wait(
      "the end of the turn, or a question",
      [[vim.list_contains(_G.events, "SallyportTurnEnd") or vim.list_contains(_G.events, "SallyportPermission")]]
    )
    if not n:lua([[return vim.list_contains(_G.events, "SallyportPermission")]]) then
      return t.same(line(n, "[^\n]*Team rules[^\n]*"), verdict)
    end
    n:cmd("Sallyport cancel")
    n:wait("the end of the turn", [[vim.list_contains(_G.events, "SallyportTurnEnd")]])
  end
  error("the decider never answered in time")
end

child.test("a decider denies", function(n)
  say([[{"decision":"deny","message":"no rm -rf here"}]])
  decided(n, "✗ Denied by Team rules — no rm -rf here: Edit a.txt")
  t.same(disk("a.txt"), "one\ntwo\nthree\n")
end)

child.test("a decider allows", function(n)
  say([[{"decision":"allow"}]])
  decided(n, "✓ Allowed by Team rules: Edit a.txt")
  t.same(disk("a.txt"), "one\nTWO\nthree\n")
end)

child.test("a decider leaves it to the user", function(n)
  say([[{"decision":"ask"}]])
  put("a.txt", "one\ntwo\nthree\n")
  n:cmd("edit a.txt")
  n:ask("please-edit")
  n:wait("the call", [[vim.list_contains(_G.events, "SallyportPermission")]])
  n:cmd("Sallyport answer")
  n:keys("a")
  n:wait("the end of the turn", [[vim.list_contains(_G.events, "SallyportTurnEnd")]])
  t.same(line(n, "✓[^\n]*"), "✓ Allowed by you: Edit a.txt")
end)
