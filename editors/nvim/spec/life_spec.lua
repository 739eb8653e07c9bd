-- Sessions side by side, questions that queue, agents and servers that end.
local child = require("spec.child")
local t = require("spec.check")

--- Answers the question in the float by a key.
local function answer(n, key)
  n:cmd("Sallyport answer")
  n:wait("the focus", [[vim.api.nvim_win_get_config(0).relative ~= ""]])
  n:keys(key)
end

child.test("two questions queue", function(n)
  n:cmd("edit a.txt")
  n:ask("please-both")
  n:wait("both", [[#(require("sallyport.session").get() or { cards = {} }).cards == 2]])
  answer(n, "a")
  n:wait("the second alone", [[#require("sallyport.session").get().cards == 1]])
  answer(n, "r")
  n:wait("the end of the turn", [[vim.list_contains(_G.events, "SallyportTurnEnd")]])
  local said = n:conversation()
  local first = said:find("first allowed", 1, true) and said:find("second refused", 1, true)
  local second = said:find("second allowed", 1, true) and said:find("first refused", 1, true)
  t.same((first or second) ~= nil, true, said)
end)

child.test("two sessions at once keep apart", function(n)
  n:lua([[
    _G.made = {}
    for i = 1, 2 do
      require("sallyport").new({}, function(_, s) _G.made[#_G.made + 1] = s.id end)
    end
  ]])
  n:wait("both", "#_G.made == 2")
  n:lua([[
    _G.done = 0
    for i, id in ipairs(_G.made) do
      require("sallyport").prompt({ session = id, prompt = "please-tell number " .. i }, function() _G.done = _G.done + 1 end)
    end
  ]])
  n:wait("both turns", "_G.done == 2")
  for i = 1, 2 do
    local said = n:lua(
      [[
      local s = require("sallyport.session").get(_G.made[...])
      return table.concat(vim.api.nvim_buf_get_lines(require("sallyport.view").buffer(s), 0, -1, true), "\n")
    ]],
      i
    )
    t.same(said:find("I was asked: please-tell number " .. i, 1, true) ~= nil, true, said)
    t.same(said:find("I was asked: please-tell number " .. 3 - i, 1, true), nil, said)
  end
end)

child.test("an agent that dies or is killed is told of, and the next prompt starts it again", function(n)
  for _, how in ipairs({ "die", "crash" }) do
    n:turn("please-" .. how)
    local said = n:conversation()
    t.same(select(2, said:gsub("the turn failed", "")), how == "die" and 1 or 2, said)
  end
  n:turn("please-tell again")
  t.same(n:conversation():find("I was asked: please-tell again", 1, true) ~= nil, true, n:conversation())
end)

child.test("a server that is killed is told of, and the next prompt begins anew", function(n)
  n:turn("please-tell first")
  n:lua(
    [[vim.uv.kill(vim.fn.systemlist({ "pgrep", "-P", tostring(vim.uv.os_getpid()), "sallyport" })[1] + 0, "sigkill")]]
  )
  n:wait(
    "the message",
    [[vim.iter(_G.notes):any(function(x) return x.text:find("the server has ended", 1, true) ~= nil end)]]
  )
  n:turn("please-tell second")
  t.same(n:conversation():find("I was asked: please-tell second", 1, true) ~= nil, true, n:conversation())
  t.same(#n:lua([[return vim.tbl_map(function(s) return s.id end, require("sallyport.session").list())]]), 1)
end)

child.test("thoughts and long output fold, plans and commands are shown", function(n)
  n:cmd("Sallyport open")
  n:wait("the prompt", [[vim.bo.filetype == "sallyport-prompt"]])
  n:turn("please-show")
  n:lua([[require("sallyport.view").flush()]])
  local folds = n:lua([[
    local s = require("sallyport.session").get()
    local buf = require("sallyport.view").buffer(s)
    return vim.api.nvim_win_call(vim.fn.win_findbuf(buf)[1], function()
      local out = {}
      for i, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, true)) do
        out[#out + 1] = (vim.fn.foldclosed(i) > 0 and "+ " or "  ") .. line
      end
      return out
    end)
  ]])
  local text = table.concat(folds, "\n")
  for _, wanted in ipairs({ "+ > second thought", "  - [x] look", "  - [-] act", "  ● Run tests", "+ 16", "  Shown." }) do
    t.same(text:find(wanted, 1, true) ~= nil, true, wanted .. "\n" .. text)
  end
  t.same(text:find("unknown", 1, true), nil)
  n:keys("<Esc>i/co<Tab>")
  n:wait("the completion", [[vim.fn.pumvisible() == 1 or vim.api.nvim_get_current_line() == "/compact"]])
end)

child.test("what a prompt names goes along", function(n)
  child.put("a.txt", "one\ntwo\n")
  child.put("shot.png", "\137PNG")
  n:cmd("edit a.txt")
  n:keys("Gothree<Esc>ggVj<Esc>")
  n:wait("the selection", [[vim.fn.line("'>") == 2]])
  n:accepting()
  local blocks = n:lua([[
    local s = require("sallyport.session").get()
    return require("sallyport.context").blocks(s, "look at @buffer, @selection and @shot.png; not me@example.org or @nowhere")
  ]])
  t.same(#blocks, 4)
  t.same(blocks[2].resource.text, "one\ntwo\nthree\n", "unsaved text too")
  t.same(blocks[3].resource.text, "one\ntwo")
  t.same({ blocks[4].type, blocks[4].mimeType, blocks[4].data }, { "image", "image/png", vim.base64.encode("\137PNG") })
end)

child.test("a picker of the user's own asks instead of the float", function(n)
  child.put("a.txt", "one\ntwo\n")
  n:cmd("edit a.txt")
  n:lua([[
    vim.ui.select = function(items, opts, done)
      _G.asked = { kind = opts.kind, prompt = opts.prompt, first = opts.format_item(items[1]) }
      done(items[1])
    end
  ]])
  n:turn("please-edit")
  t.same(n:lua("return _G.asked"), { kind = "sallyport.permission", prompt = "Edit a.txt", first = "Allow" })
  t.same(n:text("a.txt"), "one\nTWO")
end)

child.test("what an agent changed is marked until it was looked at", function(n)
  child.put("a.txt", "one\ntwo\nthree\nfour\n")
  n:cmd("edit a.txt")
  n:accepting()
  n:turn("please-edit")
  local function marked()
    return n:lua([[
      local ns = vim.api.nvim_get_namespaces()["sallyport.fresh"]
      return vim.tbl_map(function(m) return m[2] + 1 end, vim.api.nvim_buf_get_extmarks(vim.fn.bufnr("a.txt"), ns, 0, -1, {}))
    ]])
  end
  -- The mode is acceptEdits, so nothing was asked.
  t.same(marked(), { 2 })
  n:keys("G")
  n:wait("the cursor", [[vim.fn.line(".") == 4]])
  t.same(marked(), { 2 }, "the cursor was elsewhere")
  n:keys("2G")
  n:wait(
    "the mark's end",
    [[
    #vim.api.nvim_buf_get_extmarks(vim.fn.bufnr("a.txt"), vim.api.nvim_get_namespaces()["sallyport.fresh"], 0, -1, {}) == 0
  ]]
  )
end)

child.test("the status line says who works and what waits", function(n)
  t.same(n:lua([[return require("sallyport").statusline()]]), "")
  n:cmd("edit a.txt")
  n:ask("please-both")
  n:wait("both", [[#(require("sallyport.session").get() or { cards = {} }).cards == 2]])
  t.same(n:lua([[return require("sallyport").statusline()]]), "scripted … ?2")
  n:cmd("Sallyport cancel")
  n:wait("the end of the turn", [[vim.list_contains(_G.events, "SallyportTurnEnd")]])
  t.same(n:lua([[return require("sallyport").statusline()]]), "scripted")
end)
