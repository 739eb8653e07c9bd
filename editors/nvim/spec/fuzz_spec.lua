-- Typing while the agent writes the same and other lines: nothing that was typed is lost.
local child = require("spec.child")

local TURNS = tonumber(vim.env.NVIM_FUZZ_TURNS) or 50
local SWAPS = 10 -- writes of the agent in a turn, each beside some typing
local seed = tonumber(vim.env.NVIM_FUZZ_SEED) or os.time()
print("seed " .. seed)
math.randomseed(seed)

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

--- Types a token in pieces, somewhere, and goes back to Normal mode or not.
local function type_token(n, token)
  n:keys("<Esc>" .. places[math.random(#places)](math.random(1000)))
  for c in token:gmatch(".") do
    n:keys(c == "<" and "<lt>" or c)
    if math.random(3) == 1 then
      n:lua("return 0") -- lets it work on what came
    end
  end
  if math.random(2) == 1 then
    n:keys("<Esc>")
  end
end

child.test("nothing typed is lost", function(n)
  local lines, words = {}, {} -- what each line says, as far as the agent is concerned
  for i = 1, SWAPS do
    words[i] = "zero"
    lines[i] = ("line %d: zero;"):format(i)
  end
  child.put("a.txt", table.concat(lines, "\n") .. "\n")
  n:cmd("set mouse= noautoindent nosmartindent")
  n:cmd("edit a.txt")
  n:accepting()
  n:lua(
    [[_G.ends = 0; vim.api.nvim_create_autocmd("User", { pattern = "SallyportTurnEnd", callback = function() _G.ends = _G.ends + 1 end })]]
  )
  local landed = 0
  for turn = 1, TURNS do
    local typed = {}
    for i = 0, SWAPS - 1 do
      child.put(("old%d.txt"):format(i), ("line %d: %s;"):format(i + 1, words[i + 1]))
      child.put(("new%d.txt"):format(i), ("line %d: r%d;"):format(i + 1, turn))
    end
    n:ask("please-swap")
    local i, began = 0, vim.uv.hrtime()
    while i < SWAPS or n:lua("return _G.ends < ...", turn) do
      i = i + 1
      typed[i] = ("<t%d.%d>"):format(turn, i)
      type_token(n, typed[i])
      if vim.uv.hrtime() - began > 60e9 then
        error("the turn does not end\n" .. n:state())
      end
    end
    n:keys("<Esc>")
    n:wait("Normal mode", [[vim.api.nvim_get_mode().mode == "n"]])
    local text = n:text("a.txt")
    for _, token in ipairs(typed) do
      if not text:find(token, 1, true) then
        error(("turn %d: %s was typed and is lost\n%s"):format(turn, token, text))
      end
    end
    for line = 1, SWAPS do
      -- The user may have typed into the line: then the agent's words stand apart, or its write was refused.
      if text:find(("line %d: r%d;"):format(line, turn), 1, true) then
        words[line] = "r" .. turn
        landed = landed + 1
      end
    end
    n:cmd("silent %substitute/<t[0-9.]*>//ge")
    n:cmd("silent global/^$/delete")
    for line = 1, SWAPS do -- a write that was refused, or one that landed beside typing
      local word = n:text("a.txt"):match(("line %d: (%%w+);"):format(line))
      words[line] = assert(word, "line " .. line .. " is broken\n" .. n:text("a.txt"))
    end
  end
  print(("%d of %d writes landed at once"):format(landed, TURNS * SWAPS))
  if landed < TURNS * SWAPS / 2 then
    error("too few writes landed")
  end
end)
