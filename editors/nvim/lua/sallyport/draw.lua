--- How each item of a conversation looks: lines of Markdown. Pure.
local M = {}

local states = { pending = "○", in_progress = "◐", completed = "●", failed = "✗" }
local boxes = { completed = "[x]", in_progress = "[-]" }

--- At most this many lines of a tool's output are shown.
local OUTPUT = 40

--- One line of a text that somebody else wrote: no line ends, no control characters.
---@param text string
---@return string
local function flat(text)
  return (text:gsub("[%z\1-\31\127]+", " "))
end

--- A fence that the text cannot close.
---@param lines string[]
---@return string
local function fence(lines)
  local longest = 2
  for _, line in ipairs(lines) do
    local run = line:match("^%s*(`+)")
    longest = math.max(longest, run and #run or 0)
  end
  return ("`"):rep(longest + 1)
end

---@param out string[]
---@param language string
---@param lines string[]
local function block(out, language, lines)
  if #lines > OUTPUT then
    local more = #lines - OUTPUT
    lines = vim.list_slice(lines, 1, OUTPUT)
    lines[#lines + 1] = ("… %d more lines"):format(more)
  end
  local f = fence(lines)
  out[#out + 1] = f .. language
  vim.list_extend(out, lines)
  out[#out + 1] = f
end

---@param text string
---@return string[]
local function split(text)
  return vim.split((text:gsub("\r\n", "\n"):gsub("%z", "␀")), "\n", { plain = true })
end

--- A diff of two texts, as lines.
---@param diff sallyport.Diff
---@return string[]
function M.diff(diff)
  local old = type(diff.oldText) == "string" and diff.oldText or ""
  local unified = vim.diff(old, diff.newText, { ctxlen = 3 })
  local lines = split(type(unified) == "string" and unified or "")
  if lines[#lines] == "" then
    lines[#lines] = nil
  end
  return lines
end

---@param path string
---@param cwd? string
---@return string
function M.relative(path, cwd)
  local root = cwd and vim.fs.normalize(cwd) .. "/" or nil
  path = vim.fs.normalize(path)
  if root and vim.startswith(path, root) then
    return path:sub(#root + 1)
  end
  return path
end

---@param out string[]
---@param call table
---@param cwd? string
local function tool(out, call, cwd)
  local title = flat(tostring(call.title or call.kind or "tool"))
  out[#out + 1] = ("%s %s"):format(states[call.status] or "○", title)
  for _, c in ipairs(type(call.content) == "table" and call.content or {}) do
    if c.type == "diff" and type(c.newText) == "string" then
      out[#out + 1] = "  " .. flat(M.relative(tostring(c.path), cwd))
      if call.status == "completed" or call.status == "failed" then -- until then the question shows it
        block(out, "diff", M.diff(c))
      end
    elseif c.type == "content" and type(c.content) == "table" and c.content.type == "text" then
      block(out, "", split(c.content.text))
    end
  end
end

---@param settled sallyport.Settled
---@return string
local function verdict(settled)
  local o = settled.outcome
  local who = ({ user = "you", fence = "a fence", mode = "the mode", policy = "the policy" })[o.by]
    or (o.name ~= "" and o.name)
    or o.by
  local line = (o.allowed and "✓ Allowed by " or "✗ Denied by ") .. flat(who)
  if o.by == "cancel" then
    line = "✗ Withdrawn"
  end
  if o.why and o.why ~= "" then
    line = line .. " — " .. flat(o.why)
  end
  return line
end

--- The key of each option of a card, by its place.
---@param options sallyport.Option[]
---@return string[]
function M.keys(options)
  local wanted = { allow_once = "a", allow_always = "A", reject_once = "r", reject_always = "R" }
  local used, keys = {}, {}
  for i, option in ipairs(options) do
    local key = wanted[option.kind]
    if not key or used[key] then
      key = i <= 9 and tostring(i) or ""
    end
    used[key] = true
    keys[i] = key
  end
  return keys
end

--- A card as lines: its whole title, files, diffs, and its options each with its key.
---@param card sallyport.Card
---@param cwd? string
---@return string[]
function M.card(card, cwd)
  local out = { "? " .. flat(card.title) }
  if card.deciding then
    out[#out + 1] = "being decided; you can answer already"
  end
  if card.reason then
    out[#out + 1] = "you are asked because " .. flat(card.reason)
  end
  local input = type(card.request) == "table" and card.request.input
  local command = type(input) == "table" and input.command
  if type(command) == "string" then
    block(out, "sh", split(command))
  end
  for _, diff in ipairs(card.diffs or {}) do
    out[#out + 1] = flat(M.relative(diff.path, cwd)) .. ((type(diff.oldText) ~= "string") and " (new)" or "")
    block(out, "diff", M.diff(diff))
  end
  if #(card.diffs or {}) == 0 then
    for _, path in ipairs(card.paths or {}) do
      out[#out + 1] = flat(M.relative(path, cwd))
    end
  end
  local options = {}
  for i, key in ipairs(M.keys(card.options)) do
    options[i] = ("(%s) %s"):format(key, flat(card.options[i].name))
  end
  out[#out + 1] = table.concat(options, "   ")
  return out
end

local draw = {
  user = function(item)
    local out = { "## You", "" }
    return vim.list_extend(out, split(table.concat(item.parts)))
  end,
  agent = function(item)
    return split(table.concat(item.parts))
  end,
  thought = function(item)
    return vim.tbl_map(function(line)
      return "> " .. line
    end, split(table.concat(item.parts)))
  end,
  tool = function(item, cwd)
    local out = {}
    tool(out, item.call, cwd)
    return out
  end,
  plan = function(item)
    local out = { "**Plan**", "" }
    for _, entry in ipairs(type(item.entries) == "table" and item.entries or {}) do
      out[#out + 1] = ("- %s %s"):format(boxes[entry.status] or "[ ]", flat(tostring(entry.content)))
    end
    return out
  end,
  notice = function(item)
    local n = item.notice
    local out = { ("> **%s** %s"):format(n.level == "info" and "note" or n.level, flat(n.text)) }
    if n.kind == "turn" then -- what the hint says is for a terminal
      out[#out + 1] = "> hint: `:Sallyport review` shows it, `:Sallyport undo` takes it back"
    elseif n.hint then
      out[#out + 1] = "> hint: " .. flat(n.hint)
    end
    return out
  end,
  card = function(item, cwd)
    if item.settled then
      return { verdict(item.settled) .. ": " .. flat(item.settled.title) }
    end
    return M.card(item.card, cwd)
  end,
  ["end"] = function(item)
    local r = item.result
    if not r then
      return { "---", "", "*the turn failed: " .. flat(item.failed or "no reason was given") .. "*" }
    end
    local parts = { r.stopReason == "end_turn" and "done" or flat(r.stopReason) }
    local total = type(r.usage) == "table" and r.usage.totalTokens
    if type(total) == "number" then
      parts[#parts + 1] = ("%d tokens"):format(total)
    end
    return { "---", "", "*" .. table.concat(parts, " · ") .. "*" }
  end,
}

--- The lines of an item, with an empty one behind.
---@param item sallyport.Item
---@param cwd? string
---@return string[]
function M.item(item, cwd)
  local out = draw[item.kind](item, cwd)
  out[#out + 1] = ""
  return out
end

return M
