--- Unified diffs, as sallyport/turn/show gives them: read, found again in a text, and taken back. Pure.
local M = {}

---@class (exact) sallyport.Hunk
---@field old_start integer 1-based line before; 0 when nothing was there
---@field new_start integer 1-based line after; 0 when nothing is there
---@field old string[] lines before, context included
---@field new string[] lines after, context included
---@field head string what a list shows of it

---@param unified string
---@return sallyport.Hunk[]
function M.hunks(unified)
  local all, hunk = {}, nil
  for _, line in ipairs(vim.split(unified, "\n", { plain = true })) do
    local old, new = line:match("^@@ %-(%d+),?%d* %+(%d+),?%d* @@")
    local kind = line:sub(1, 1)
    if old then
      hunk = { old_start = tonumber(old), new_start = tonumber(new), old = {}, new = {}, head = "" }
      all[#all + 1] = hunk
    elseif hunk and (kind == " " or kind == "-" or kind == "+") then
      local text = line:sub(2)
      if kind ~= "+" then
        table.insert(hunk.old, text)
      end
      if kind ~= "-" then
        table.insert(hunk.new, text)
      end
      if kind ~= " " and hunk.head == "" then
        hunk.head = line
      end
    end
  end
  return all
end

---@param lines string[]
---@param at integer 1-based
---@param wanted string[]
---@return boolean
local function stands(lines, at, wanted)
  for i, line in ipairs(wanted) do
    if lines[at + i - 1] ~= line then
      return false
    end
  end
  return at >= 1 and at + #wanted - 1 <= #lines
end

--- Where a hunk's lines after the turn stand in a text now: as near as can be to where they were.
---@param lines string[]
---@param hunk sallyport.Hunk
---@return integer? line 1-based; nil when they have changed since
function M.find(lines, hunk)
  if #hunk.new == 0 then
    return #lines == 0 and 1 or (#lines == 1 and lines[1] == "" and 1 or nil)
  end
  local best
  for at = 1, #lines - #hunk.new + 1 do
    if stands(lines, at, hunk.new) then
      if not best or math.abs(at - hunk.new_start) < math.abs(best - hunk.new_start) then
        best = at
      end
    end
  end
  return best
end

--- A text as it was before a turn; nil when it changed where the turn did.
---@param lines string[]
---@param hunks sallyport.Hunk[]
---@return string[]?
function M.before(lines, hunks)
  local out = vim.deepcopy(lines)
  for i = #hunks, 1, -1 do
    local h = hunks[i]
    local at = M.find(out, h)
    if not at then
      return nil
    end
    local tail = vim.list_slice(out, at + #h.new)
    out = vim.list_slice(out, 1, at - 1)
    vim.list_extend(out, h.old)
    vim.list_extend(out, tail)
  end
  return out
end

return M
