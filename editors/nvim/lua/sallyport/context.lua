--- What the user is looking at, and what they name in a prompt.
local client = require("sallyport.client")
local text = require("sallyport.text")

local M = {}

local api = vim.api

local MAX_TEXT = 64 * 1024
local MAX_DIAGNOSTICS = 100

--- The window the user edits in: the current one, or the last one with a file.
---@return integer? win
function M.window()
  local function edits(win)
    local buf = api.nvim_win_get_buf(win)
    return vim.bo[buf].buftype == "" and api.nvim_buf_get_name(buf) ~= ""
  end
  local current = api.nvim_get_current_win()
  if edits(current) then
    return current
  end
  local previous = vim.fn.win_getid(vim.fn.winnr("#"))
  if previous ~= 0 and edits(previous) then
    return previous
  end
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if edits(win) then
      return win
    end
  end
end

---@param buf integer
---@param row integer 0-based
---@param col integer bytes
---@return sallyport.Position
local function position(buf, row, col)
  local c = client.client()
  local encoding = c and c.offset_encoding or "utf-16"
  local line = api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ""
  col = math.min(col, #line)
  if encoding == "utf-8" then
    return { line = row, character = col }
  end
  local utf32, utf16 = vim.str_utfindex(line, col)
  return { line = row, character = encoding == "utf-16" and utf16 or utf32 }
end

--- The selection of the last Visual mode in a window, when it is going on or was given by a range.
---@param buf integer
---@return integer? first 0-based row
---@return integer? last
local function visual(buf)
  if api.nvim_get_current_buf() ~= buf or not api.nvim_get_mode().mode:match("^[vV\22]") then
    return nil
  end
  local a, b = vim.fn.line("v") - 1, vim.fn.line(".") - 1
  return math.min(a, b), math.max(a, b)
end

---@param win integer
---@return table ActiveDocument
local function active(win)
  local buf = api.nvim_win_get_buf(win)
  local first, last = visual(buf)
  local cursor = api.nvim_win_get_cursor(win)
  local selected = ""
  local from = position(buf, cursor[1] - 1, cursor[2])
  local to = from
  if first and last then
    local lines = api.nvim_buf_get_lines(buf, first, last + 1, false)
    selected = table.concat(lines, "\n"):sub(1, MAX_TEXT)
    from, to = position(buf, first, 0), position(buf, last, math.huge)
  end
  return {
    uri = vim.uri_from_bufnr(buf),
    version = vim.lsp.util.buf_versions[buf] or api.nvim_buf_get_changedtick(buf),
    selection = { start = from, ["end"] = to },
    text = selected,
  }
end

---@param bufs integer[]
---@return table[]
local function diagnostics(bufs)
  local all = {}
  for _, buf in ipairs(bufs) do
    for _, d in ipairs(vim.diagnostic.get(buf)) do
      all[#all + 1] = {
        uri = vim.uri_from_bufnr(buf),
        range = {
          start = position(buf, d.lnum, d.col),
          ["end"] = position(buf, d.end_lnum or d.lnum, d.end_col or d.col),
        },
        severity = d.severity or 1,
        message = d.message,
        source = d.source,
      }
    end
  end
  table.sort(all, function(a, b)
    return a.severity < b.severity
  end)
  return vim.list_slice(all, 1, MAX_DIAGNOSTICS)
end

--- Answers sallyport/document/context.
function M.handle(_)
  local bufs, seen, visible = {}, {}, {}
  for _, win in ipairs(api.nvim_list_wins()) do
    local buf = api.nvim_win_get_buf(win)
    if not seen[buf] and vim.bo[buf].buftype == "" and api.nvim_buf_get_name(buf) ~= "" then
      seen[buf] = true
      bufs[#bufs + 1] = buf
      visible[#visible + 1] = vim.uri_from_bufnr(buf)
    end
  end
  local win = M.window()
  return {
    active = win and active(win) or nil,
    visible = visible,
    diagnostics = diagnostics(bufs),
  }
end

---@class sallyport.Range lines given by the command's range
---@field buf integer
---@field first integer 1-based
---@field last integer

--- Embedded text where the agent takes it, else a text block with a fence.
---@param s sallyport.Session
---@param uri string
---@param body string
---@return table
local function embedded(s, uri, body)
  if s.info.capabilities and s.info.capabilities.embeddedContext then
    return { type = "resource", resource = { uri = uri, text = body } }
  end
  local longest = 2
  for run in body:gmatch("`+") do
    longest = math.max(longest, #run)
  end
  local fence = ("`"):rep(longest + 1)
  return { type = "text", text = ("%s\n%s\n%s\n%s"):format(uri, fence, body, fence) }
end

---@param s sallyport.Session
---@param range? sallyport.Range
---@return table?
local function selection_block(s, range)
  local buf, first, last
  if range then
    buf, first, last = range.buf, range.first, range.last
  else
    local win = M.window()
    if not win then
      return nil
    end
    buf = api.nvim_win_get_buf(win)
    first, last = api.nvim_buf_get_mark(buf, "<")[1], api.nvim_buf_get_mark(buf, ">")[1]
    if first == 0 then
      return nil
    end
  end
  local lines = api.nvim_buf_get_lines(buf, first - 1, last, false)
  local uri = ("%s#L%d-L%d"):format(vim.uri_from_bufnr(buf), first, last)
  return embedded(s, uri, table.concat(lines, "\n"):sub(1, MAX_TEXT))
end

local images = { png = "image/png", jpg = "image/jpeg", jpeg = "image/jpeg", gif = "image/gif", webp = "image/webp" }

--- The largest picture that goes along, in bytes; a larger one is linked.
local MAX_IMAGE = 8 * 1024 * 1024

---@param s sallyport.Session
---@param path string
---@return table? block of a picture, where the agent takes them
local function image(s, path)
  local mime = images[(path:match("%.(%w+)$") or ""):lower()]
  local stat = vim.uv.fs_stat(path)
  if not mime or not (s.info.capabilities and s.info.capabilities.image) or not stat or stat.size > MAX_IMAGE then
    return nil
  end
  local file = io.open(path, "rb")
  if not file then
    return nil
  end
  local data = file:read("*a")
  file:close()
  return { type = "image", mimeType = mime, data = vim.base64.encode(data), uri = vim.uri_from_fname(path) }
end

---@param path string
---@return table
local function link(path)
  return { type = "resource_link", uri = vim.uri_from_fname(path), name = vim.fn.fnamemodify(path, ":t") }
end

--- The content blocks of a prompt: its text, and what its @words name. `@selection`, `@buffer` and `@diagnostics` are
--- what they say; any other @word that is a file is linked, and a picture goes along where the agent takes pictures.
---@param s sallyport.Session
---@param prompt string
---@param range? sallyport.Range
---@return table[]
function M.blocks(s, prompt, range)
  local blocks = { { type = "text", text = prompt } }
  local used = {}
  local function add(key, block)
    if block and not used[key] then
      used[key] = true
      blocks[#blocks + 1] = block
    end
  end
  if range then
    add("selection", selection_block(s, range))
  end
  local win = M.window()
  local buf = win and api.nvim_win_get_buf(win)
  for word in prompt:gmatch("%f[%S]@([^%s,;]+)") do
    local trimmed = word:gsub("[%.:!%?%)]+$", "")
    if word == "selection" or trimmed == "selection" then
      add("selection", selection_block(s, range))
    elseif trimmed == "buffer" and buf then
      add("buffer", embedded(s, vim.uri_from_bufnr(buf), text.of(buf)))
    elseif trimmed == "diagnostics" and buf then
      local lines = vim.tbl_map(function(d)
        return ("%s:%d: %s"):format(vim.uri_to_fname(d.uri), d.range.start.line + 1, d.message)
      end, diagnostics({ buf }))
      add("diagnostics", { type = "text", text = #lines > 0 and table.concat(lines, "\n") or "no diagnostics" })
    else
      for _, name in ipairs({ word, trimmed }) do
        local path = name:match("^/") and name or vim.fs.joinpath(s.info.cwd or vim.fn.getcwd(), name)
        if vim.uv.fs_stat(path) then
          add(path, image(s, path) or link(path))
          break
        end
      end
    end
  end
  return blocks
end

return M
