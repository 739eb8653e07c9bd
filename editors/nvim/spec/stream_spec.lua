-- A fast agent never holds up typing.
local child = require("spec.child")
local t = require("spec.check")

child.test("5,000 chunks all arrive", function(n)
  n:cmd("edit a.txt")
  n:lua([[
      require("sallyport").ensure(function(_, s)
        require("sallyport.view").open(s)
        vim.cmd("wincmd p")
        _G.ready = true
      end)
    ]])
  n:wait("the session", "_G.ready")
  -- A timer that wants to run each millisecond sees how long the main loop was held up.
  n:lua([[
      _G.held = {}
      local last = vim.uv.hrtime()
      local idle = assert(vim.uv.new_timer())
      idle:start(1, 1, function()
        local now = vim.uv.hrtime()
        table.insert(_G.held, (now - last) / 1e6)
        last = now
      end)
    ]])
  n:ask("please-stream")
  n:wait("the end of the turn", [[vim.list_contains(_G.events, "SallyportTurnEnd")]])
  n:lua([[require("sallyport.view").flush()]])
  local text = n:conversation()
  t.same(select(2, text:gsub("word %d+ and some more of it\n", "")), 5000, "every chunk is there")
  local held = n:lua(
    [[table.sort(_G.held); return { #_G.held, _G.held[math.ceil(#_G.held * 0.5)], _G.held[math.ceil(#_G.held * 0.99)], _G.held[#_G.held] }]]
  )
  print(("%d rounds of the loop: median %.1f ms, 99th of 100 %.1f ms, longest %.1f ms"):format(unpack(held)))
end)
