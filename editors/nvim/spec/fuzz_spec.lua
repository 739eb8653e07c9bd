-- Typing while the agent writes the same and other lines: nothing that was typed is lost.
local child = require("spec.child")
local t = require("spec.check")

local ROUNDS = tonumber(vim.env.NVIM_FUZZ_ROUNDS) or 500
local seed = tonumber(vim.env.NVIM_FUZZ_SEED) or os.time()
print("seed " .. seed)
math.randomseed(seed)

local function put(name, content)
  local file = assert(io.open(vim.env.NVIM_PROJECT .. "/" .. name, "wb"))
  file:write(content)
  file:close()
end

--- Where the user types in a round, and how: keys before the text, and the way back to Normal mode.
local places = {
  function(round)
    return ("%dGA"):format(round % 9 + 1)
  end,
  function(round)
    return ("%dGI"):format((round * 3) % 9 + 1)
  end,
  function(round)
    return ("%dGo"):format((round * 5) % 9 + 1)
  end,
  function()
    return "ggO"
  end,
  function()
    return "Go"
  end,
}

t.test("nothing typed is lost", function()
  local n = child.start()
  local ok, err = xpcall(function()
    local lines = {}
    for i = 1, 9 do
      lines[i] = ("line %d: zero"):format(i)
    end
    put("a.txt", table.concat(lines, "\n") .. "\n")
    n:cmd("set mouse= noautoindent nosmartindent")
    n:cmd("edit a.txt")
    n:lua([[_G.done = 0; vim.api.nvim_create_autocmd("User", { pattern = "SallyportTurnEnd", callback = function() _G.done = _G.done + 1 end })]])
    n:lua([[require("sallyport").new({ mode = "acceptEdits" }, function() _G.ready = true end)]])
    n:wait("the session", "_G.ready")
    local typed, landed, refused = {}, 0, 0
    local words = {} -- what line i says now, as far as the agent is concerned
    for i = 1, 9 do
      words[i] = "zero"
    end
    for round = 1, ROUNDS do
      local line = math.random(9)
      local new = ("r%d"):format(round)
      put("old.txt", ("line %d: %s"):format(line, words[line]))
      put("new.txt", ("line %d: %s"):format(line, new))
      n:keys(places[math.random(#places)](math.random(1000)))
      local token = ("<t%d>"):format(round)
      local cut = math.random(0, #token)
      n:keys((token:sub(1, cut):gsub("<", "<lt>")))
      n:ask("please-swap")
      local rest = token:sub(cut + 1)
      for c in rest:gmatch(".") do
        n:keys(c == "<" and "<lt>" or c)
        if math.random(3) == 1 then
          n:lua("return 0") -- lets it work on what came
        end
      end
      if math.random(2) == 1 then
        n:keys("<Esc>")
      end
      n:wait("the end of a turn", "_G.done >= ...", round)
      n:keys("<Esc>")
      n:wait("Normal mode", [[vim.api.nvim_get_mode().mode == "n"]])
      typed[#typed + 1] = token
      local text = n:text("a.txt")
      for _, token_ in ipairs({ token, typed[math.random(#typed)] }) do
        if not text:find(token_, 1, true) then
          error(("round %d: %s was typed and is lost\n%s"):format(round, token_, text))
        end
      end
      if text:find(("line %d: %s"):format(line, new), 1, true) then
        words[line] = new
        landed = landed + 1
      else
        refused = refused + 1
        t.same(text:find(new, 1, true), nil, "half a write")
      end
      if round % 25 == 0 then -- keep the file small; the agent reads anew in each turn
        n:cmd("%substitute/<t\\d*>//ge")
        n:cmd("global/^$/delete")
        typed = {}
      end
    end
    print(("%d writes landed, %d were refused"):format(landed, refused))
    if landed < ROUNDS / 2 then
      error(("only %d of %d writes landed"):format(landed, ROUNDS))
    end
  end, debug.traceback)
  n:stop()
  if not ok then
    error(("seed %d\n%s"):format(seed, err), 0)
  end
end)
