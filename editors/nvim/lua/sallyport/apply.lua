--- sallyport/document/apply: an agent's change lands in a buffer, as one undo step, if the buffer is still what the server
--- believes it to be.
local client = require("sallyport.client")
local text = require("sallyport.text")

local M = {}

local api = vim.api
local ns = api.nvim_create_namespace("sallyport.fresh")

api.nvim_set_hl(0, "SallyportFresh", { default = true, link = "Added" })
api.nvim_set_hl(0, "SallyportFreshLine", { default = true, link = "DiffAdd" })

--- How long a write waits for an open completion menu, in milliseconds.
local MENU_WAIT = 1000

---@param uri string
---@return integer? buf
local function buffer_of(uri)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" and vim.uri_from_bufnr(buf) == uri then
      return buf
    end
  end
end

---@param buf integer
---@return integer
local function version_of(buf)
  return vim.lsp.util.buf_versions[buf] or api.nvim_buf_get_changedtick(buf)
end

---@param buf integer
---@param status string
---@param message? string
---@return sallyport.ApplyResult
local function answer(buf, status, message)
  return { status = status, version = version_of(buf), hash = text.hash(text.of(buf)), saved = false, message = message }
end

--- What a file's state on disk is known by.
---@param path string
---@return string
local function stamp(path)
  local stat = vim.uv.fs_stat(path)
  return stat and ("%d.%d.%d"):format(stat.mtime.sec, stat.mtime.nsec, stat.size) or "absent"
end

---@param path string
---@return string?
local function disk(path)
  local file = io.open(path, "rb")
  if not file then
    return nil
  end
  local content = file:read("*a")
  file:close()
  return content
end

--- Writes the buffer to its file. Neovim would stop and ask when the file changed since it was read; here nobody is
--- asked: a file that holds something that the buffer never had is not overwritten.
---@param buf integer
---@param before string text that the buffer had
---@return boolean saved
---@return string? why not
local function save(buf, before)
  local path = api.nvim_buf_get_name(buf)
  local found = disk(path)
  if found and stamp(path) ~= vim.b[buf].sallyport_stamp then
    if found ~= before and found ~= text.of(buf) then
      return false, "the file has changed on disk since it was read"
    end
  end
  local ok, err = pcall(api.nvim_buf_call, buf, function()
    vim.cmd("silent lockmarks keepalt write!")
  end)
  if not ok then
    return false, (tostring(err):gsub("\n.*", ""))
  end
  return not vim.bo[buf].modified
end

--- Makes a buffer that holds what its file holds unmodified. Neovim forgets that the file was changed behind its back only
--- when it reads or writes it, and reading would take marks and folds away: so the same bytes are written once more.
---@param buf integer
---@return boolean saved
---@return string? why not
local function same(buf)
  if disk(api.nvim_buf_get_name(buf)) ~= text.of(buf) then
    return false, "the file does not hold the same bytes"
  end
  return save(buf, text.of(buf))
end

--- Marks the lines that an agent changed, until the cursor has been among them.
---@param buf integer
---@param edits sallyport.Edit[]
local function highlight(buf, edits)
  local count = api.nvim_buf_line_count(buf)
  local shift = 0
  for i = #edits, 1, -1 do -- first to last
    local e = edits[i]
    local added = select(2, e.newText:gsub("\n", "\n"))
    local first = math.min(e.range.start.line + shift, count - 1)
    local last = math.min(first + added, count - 1)
    for row = first, last do
      api.nvim_buf_set_extmark(buf, ns, row, 0, {
        sign_text = "┃",
        sign_hl_group = "SallyportFresh",
        line_hl_group = "SallyportFreshLine",
        priority = 20,
      })
    end
    shift = shift + added - (e.range["end"].line - e.range.start.line)
  end
  if vim.b[buf].sallyport_fresh then
    return
  end
  vim.b[buf].sallyport_fresh = true
  api.nvim_create_autocmd({ "CursorMoved", "InsertEnter", "BufUnload" }, {
    buffer = buf,
    group = api.nvim_create_augroup("sallyport.fresh." .. buf, {}),
    callback = function(event)
      if event.event ~= "BufUnload" then
        local row = api.nvim_win_get_cursor(0)[1] - 1
        if #api.nvim_buf_get_extmarks(buf, ns, { row, 0 }, { row, -1 }, { limit = 1 }) == 0 then
          return
        end
        M.looked(buf)
      end
      return true
    end,
  })
end

--- Takes the marks of fresh changes off a buffer.
---@param buf integer
function M.looked(buf)
  if api.nvim_buf_is_valid(buf) then
    api.nvim_buf_clear_namespace(buf, ns, 0, -1)
    vim.b[buf].sallyport_fresh = nil
  end
end

--- Keeps what the file's state was when Neovim last read or wrote it. A buffer with unsaved text may be older than its
--- file: then nothing is known.
---@param buf integer
function M.stamped(buf)
  vim.b[buf].sallyport_stamp = not vim.bo[buf].modified and stamp(api.nvim_buf_get_name(buf)) or nil
end

--- Waits until no completion menu is open: a change would close it under the user's fingers.
local function menu_closed()
  if vim.fn.pumvisible() == 0 then
    return
  end
  client.await(function(resume)
    local timer, auto
    local function over()
      if timer then
        timer:stop()
        timer:close()
        timer = nil
        pcall(api.nvim_del_autocmd, auto)
        resume()
      end
    end
    auto = api.nvim_create_autocmd({ "CompleteDone", "InsertLeave" }, { callback = vim.schedule_wrap(over) })
    timer = assert(vim.uv.new_timer())
    timer:start(MENU_WAIT, 0, vim.schedule_wrap(over))
  end)
end

--- Answers sallyport/document/apply.
---@param params sallyport.ApplyParams
---@return sallyport.ApplyResult
function M.handle(params)
  menu_closed()
  local buf = buffer_of(params.uri)
  if not buf then
    return { status = "closed", version = 0, saved = false }
  end
  if #params.edits > 0 and (not vim.bo[buf].modifiable or vim.bo[buf].readonly) then
    return answer(buf, "readOnly", "the buffer is not modifiable, or read-only")
  end
  local before = text.of(buf)
  if params.version ~= version_of(buf) or params.hash ~= text.hash(before) then
    return answer(buf, "stale")
  end
  if #params.edits > 0 then
    local c = client.client()
    local eol = vim.bo[buf].eol
    local ok, err = pcall(text.apply, buf, params.edits, c and c.offset_encoding or "utf-16")
    if not ok then
      return answer(buf, "stale", tostring(err))
    end
    if vim.bo[buf].eol ~= eol then -- a line end alone is no change that Neovim tells
      client.notify("textDocument/didChange", {
        textDocument = { uri = params.uri, version = version_of(buf) },
        contentChanges = { { text = text.of(buf) } },
      })
    end
    highlight(buf, params.edits)
  end
  local saved, why = false, nil
  if params.disk == "holds" then
    saved, why = same(buf)
  elseif params.save then
    saved, why = save(buf, before)
  end
  local result = answer(buf, "applied", why)
  result.saved = saved
  return result
end

return M
