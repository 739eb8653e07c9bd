-- A fast agent never holds up typing.
local child = require("spec.child")
local t = require("spec.check")

child.test("5,000 chunks arrive, and Neovim never works longer than 16 ms at once", function(n)
  n:cmd("edit a.txt")
  n:lua([[
    require("sallyport").ensure(function(_, s)
      require("sallyport.view").open(s)
      vim.cmd("wincmd p")
      _G.ready = true
    end)
  ]])
  n:wait("the session", "_G.ready")
  -- A timer that wants to run each millisecond sees how much the main loop worked in between. It is the time of the
  -- processor: on a busy machine the clock would tell of others.
  n:lua([[
    local function cpu()
      local r = vim.uv.getrusage()
      return (r.utime.sec + r.stime.sec) * 1e3 + (r.utime.usec + r.stime.usec) / 1e3
    end
    _G.held = {}
    local last = cpu()
    assert(vim.uv.new_timer()):start(1, 1, function()
      local now = cpu()
      table.insert(_G.held, now - last)
      last = now
    end)
  ]])
  n:turn("please-stream")
  n:wait(
    "the last chunk",
    [[vim.iter(vim.api.nvim_list_bufs()):any(function(b)
    return vim.bo[b].filetype == "sallyport" and table.concat(vim.api.nvim_buf_get_lines(b, -12, -1, false), "\n"):find("word 4999", 1, true) ~= nil
  end)]]
  )
  local held = n:lua([[
    table.sort(_G.held)
    return { #_G.held, _G.held[math.ceil(#_G.held / 2)], _G.held[#_G.held - 1], _G.held[#_G.held] }
  ]])
  print(("%d rounds of the loop: median %.1f ms, the two longest %.1f and %.1f ms"):format(unpack(held)))
  assert(held[4] <= 16, ("the main loop worked for %.1f ms at once"):format(held[4]))
  t.same(select(2, n:conversation():gsub("word %d+ and some more of it\n", "")), 5000, "every chunk is there")
end)
