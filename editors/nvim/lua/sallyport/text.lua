--- The text of a buffer as the language client sends it, and edits of it.
local M = {}

local api = vim.api

local endings = { unix = "\n", dos = "\r\n", mac = "\r" }

---@param buf integer
---@return string
function M.of(buf)
  local ending = endings[vim.bo[buf].fileformat] or "\n"
  local text = table.concat(api.nvim_buf_get_lines(buf, 0, -1, true), ending)
  if vim.bo[buf].eol then
    text = text .. ending
  end
  return text
end

--- "sha256:" and the hex digest, as every hash of the protocol.
---@param text string
---@return string
function M.hash(text)
  return "sha256:" .. vim.fn.sha256(text)
end

--- The byte column of a position in a line; beyond the end it is the end.
---@param line string
---@param character integer
---@param encoding string "utf-8", "utf-16" or "utf-32"
---@return integer
local function column(line, character, encoding)
  if encoding == "utf-8" then
    return math.min(character, #line)
  end
  local ok, col = pcall(vim.str_byteindex, line, encoding == "utf-16" and character or character, encoding == "utf-16")
  return ok and col or #line
end

--- Applies one edit to a buffer whose lines are the whole text, split at its line ends.
---@param buf integer
---@param edit sallyport.Edit
---@param encoding string
local function apply_one(buf, edit, encoding)
  local count = api.nvim_buf_line_count(buf)
  local function place(p)
    local row = math.min(p.line, count - 1)
    local line = api.nvim_buf_get_lines(buf, row, row + 1, true)[1]
    return row, p.line > row and #line or column(line, p.character, encoding)
  end
  local row, col = place(edit.range.start)
  local end_row, end_col = place(edit.range["end"])
  local lines = vim.split((edit.newText:gsub("\r\n", "\n"):gsub("\r", "\n")), "\n", { plain = true })
  api.nvim_buf_set_text(buf, row, col, end_row, end_col, lines)
end

--- Marks of a buffer, by name.
---@param buf integer
---@return table<string, integer[]>
local function marks_of(buf)
  local marks = {}
  for _, m in ipairs(vim.fn.getmarklist(buf)) do
    if m.mark:match("^'[a-z]$") then
      marks[m.mark:sub(2)] = { m.pos[2], m.pos[3] - 1 }
    end
  end
  return marks
end

--- Puts back marks that an edit took away because it replaced their line.
---@param buf integer
---@param marks table<string, integer[]>
local function restore_marks(buf, marks)
  for _, m in ipairs(vim.fn.getmarklist(buf)) do
    marks[m.mark:sub(2)] = nil
  end
  local count = api.nvim_buf_line_count(buf)
  for mark, pos in pairs(marks) do
    api.nvim_buf_set_mark(buf, mark, math.min(pos[1], count), math.max(pos[2], 0), {})
  end
end

--- Changes a buffer: edits are ordered last to first and refer to the text before. The cursor, marks and folds outside
--- of them stay. What was typed is one undo step and this is another. 'endofline' follows the text.
---@param buf integer
---@param edits sallyport.Edit[]
---@param encoding string
function M.apply(buf, edits, encoding)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels -- closes the undo step that is open
  local marks = marks_of(buf)
  local count = api.nvim_buf_line_count(buf)
  local eol = vim.bo[buf].eol
  local at_end = edits[1] ~= nil and edits[1].range["end"].line >= (eol and count or count - 1)
  if at_end and eol then -- Neovim keeps no line behind the last line end; the edits speak of one
    api.nvim_buf_set_lines(buf, count, count, true, { "" })
  end
  for _, edit in ipairs(edits) do
    apply_one(buf, edit, encoding)
  end
  if at_end then
    count = api.nvim_buf_line_count(buf)
    local ends = count > 1 and api.nvim_buf_get_lines(buf, -2, -1, true)[1] == ""
    if ends then
      api.nvim_buf_set_lines(buf, count - 1, count, true, {})
    end
    if count == 1 and not ends and api.nvim_buf_get_lines(buf, 0, 1, true)[1] == "" then
      api.nvim_buf_set_lines(buf, 0, -1, true, {}) -- now it is written as a file without a byte
    end
    if vim.bo[buf].eol ~= ends then
      vim.bo[buf].eol = ends
    end
  end
  restore_marks(buf, marks)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

return M
