--- Settings. All are optional; `require("sallyport").setup({...})` may be called at any time before the first use.
local M = {}

---@class sallyport.Config
---@field cmd string[] the server; default { "sallyport", "serve" }
---@field agent? string harness id for new sessions; default: the server's own
---@field open "split"|"vsplit"|"tab"|"none" how :Sallyport opens the conversation; default "vsplit"
---@field context boolean selection, visible files and diagnostics go along with a prompt; default true
---@field thoughts "closed"|"open"|"hidden" how an agent's thoughts are shown; default "closed"
---@field prompt_height integer lines of the prompt's window; default 6

---@type sallyport.Config
local defaults = {
  cmd = { "sallyport", "serve" },
  agent = nil,
  open = "vsplit",
  context = true,
  thoughts = "closed",
  prompt_height = 6,
}

---@type sallyport.Config
local current = vim.deepcopy(defaults)

local kinds = {
  cmd = "table",
  agent = "string",
  open = "string",
  context = "boolean",
  thoughts = "string",
  prompt_height = "number",
}
local choices = {
  open = { split = true, vsplit = true, tab = true, none = true },
  thoughts = { closed = true, open = true, hidden = true },
}

--- What is wrong with a table of settings, one sentence each; nothing when it is good.
---@param opts table
---@return string[]
function M.problems(opts)
  local bad = {}
  for key, value in vim.spairs(opts) do
    if not kinds[key] then
      bad[#bad + 1] = ("setting %q is not known; known are %s"):format(
        key,
        table.concat(vim.fn.sort(vim.tbl_keys(kinds)), ", ")
      )
    elseif type(value) ~= kinds[key] then
      bad[#bad + 1] = ("setting %s has to be a %s, not a %s"):format(key, kinds[key], type(value))
    elseif choices[key] and not choices[key][value] then
      bad[#bad + 1] = ("setting %s has to be one of %s"):format(
        key,
        table.concat(vim.fn.sort(vim.tbl_keys(choices[key])), ", ")
      )
    end
  end
  return bad
end

--- Takes settings over. A wrong one is told and left at its default.
---@param opts? table
function M.set(opts)
  opts = opts or {}
  for _, problem in ipairs(M.problems(opts)) do
    vim.notify("sallyport: " .. problem, vim.log.levels.WARN)
  end
  local good = {}
  for key, value in pairs(opts) do
    if #M.problems({ [key] = value }) == 0 then
      good[key] = value
    end
  end
  current = vim.tbl_extend("force", vim.deepcopy(defaults), good)
end

---@return sallyport.Config
function M.get()
  return current
end

return M
