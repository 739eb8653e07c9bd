--- What a turn changed: listed, looked at, kept or taken back, whole or by hunks.
local client = require("sallyport.client")
local patch = require("sallyport.patch")
local session = require("sallyport.session")

local M = {}

local api = vim.api

---@class sallyport.Reviewed
---@field turn string
---@field files table[] as sallyport/turn/show gives them
---@field cwd string

--- The review that is open.
---@type sallyport.Reviewed?
local current

---@return string
local function folder()
  local s = session.get()
  return s and s.info.cwd or vim.fn.getcwd()
end

---@param err table
local function fail(err)
  require("sallyport")._fail(err)
end

---@param file table
---@return string
local function path_of(file)
  return vim.fs.joinpath(file.root, file.path)
end

--- What a turn changed, for lists and pickers: one entry for each hunk, or for a file that has none to show.
---@class (exact) sallyport.Entry
---@field filename string
---@field lnum integer
---@field text string
---@field by string attribution: "mediated", "declared", "silent", "user", "unsure"
---@field kind string

---@param files table[]
---@return sallyport.Entry[]
function M.entries(files)
  local all = {}
  for _, file in ipairs(files) do
    local hunks = type(file.unified) == "string" and patch.hunks(file.unified) or {}
    local path = path_of(file)
    local what = ("[%s, %s]"):format(file.kind, file.by)
    if #hunks == 0 then
      local why = file.binary and " binary" or (file.omitted and (" " .. file.omitted) or "")
      all[#all + 1] = { filename = path, lnum = 1, text = what .. why, by = file.by, kind = file.kind }
    end
    for _, h in ipairs(hunks) do
      all[#all + 1] = {
        filename = path,
        lnum = math.max(1, h.new_start),
        text = what .. " " .. h.head,
        by = file.by,
        kind = file.kind,
      }
    end
  end
  return all
end

--- Asks what a turn changed.
---@param turn? string id or its beginning; default: the newest
---@param done fun(err?: table, result?: { turn: table, files: table[] })
function M.show(turn, done)
  client.request("sallyport/turn/show", { turnId = turn, cwd = folder() }, done)
end

--- Opens the quickfix list with what a turn changed.
---@param turn? string
function M.open(turn)
  M.show(turn, function(err, result)
    if err then
      return fail(err)
    end
    current = { turn = result.turn.turnId, files = result.files, cwd = folder() }
    local items = M.entries(result.files)
    if #items == 0 then
      return vim.notify("sallyport: the turn changed nothing")
    end
    vim.fn.setqflist({}, " ", { title = "Sallyport " .. result.turn.turnId, items = items })
    vim.cmd("botright copen")
  end)
end

--- The file of the open review that a buffer shows.
---@param buf integer
---@return table? file
local function reviewed(buf)
  local name = api.nvim_buf_get_name(buf)
  for _, file in ipairs(current and current.files or {}) do
    if vim.fs.normalize(path_of(file)) == vim.fs.normalize(name) then
      return file
    end
  end
end

---@param buf integer
---@return table? file
local function need(buf)
  local file = reviewed(buf)
  if not file then
    vim.notify(
      "sallyport: the turn under review did not change this file\nhint: :Sallyport review",
      vim.log.levels.WARN
    )
  end
  return file
end

--- Shows the file of the current window beside what it was before the turn.
function M.diff()
  local buf = api.nvim_get_current_buf()
  local file = need(buf)
  if not file then
    return
  end
  local before
  if file.kind == "added" then
    before = {}
  elseif type(file.unified) == "string" then
    before = patch.before(api.nvim_buf_get_lines(buf, 0, -1, true), patch.hunks(file.unified))
  end
  if not before then
    return vim.notify(
      "sallyport: the file changed since the turn, so what it was cannot be shown beside it\nhint: `sallyport show`",
      vim.log.levels.WARN
    )
  end
  local filetype = vim.bo[buf].filetype
  vim.cmd("diffthis")
  vim.cmd("leftabove vertical new")
  local scratch = api.nvim_get_current_buf()
  api.nvim_buf_set_lines(scratch, 0, -1, true, before)
  local o = vim.bo[scratch]
  o.buftype, o.bufhidden, o.modifiable, o.filetype = "nofile", "wipe", false, filetype
  pcall(api.nvim_buf_set_name, scratch, ("sallyport://%s/before/%s"):format(current.turn, file.path))
  vim.cmd("diffthis")
  vim.cmd("wincmd p")
end

--- Takes the hunk under the cursor back. It is an edit of the user's own: one undo step, not saved.
function M.hunk_back()
  local buf = api.nvim_get_current_buf()
  local file = need(buf)
  if not file then
    return
  end
  local lines = api.nvim_buf_get_lines(buf, 0, -1, true)
  local row = api.nvim_win_get_cursor(0)[1]
  for _, h in ipairs(type(file.unified) == "string" and patch.hunks(file.unified) or {}) do
    local at = patch.find(lines, h)
    if at and row >= at and row <= at + math.max(#h.new, 1) - 1 then
      api.nvim_buf_set_lines(buf, at - 1, at - 1 + #h.new, true, h.old)
      return
    end
  end
  vim.notify("sallyport: no hunk of the turn is under the cursor, or it changed since", vim.log.levels.WARN)
end

---@param states table[]
---@return string
local function names(states)
  local out = {}
  for i, state in ipairs(states) do
    if i > 5 then
      out[#out + 1] = ("and %d more"):format(#states - 5)
      break
    end
    out[#out + 1] = state.path .. (state.why and (" (" .. state.why .. ")") or "")
  end
  return table.concat(out, ", ")
end

--- Files whose buffers show what was on the disk before.
local function reload()
  vim.cmd("silent! checktime")
end

---@param method "undo"|"redo"
---@param params table
local function take(method, params)
  client.request("sallyport/turn/" .. method, params, function(err, result)
    if err then
      return fail(err)
    end
    reload()
    local done = ("%s: %d file%s"):format(
      method == "undo" and "taken back" or "done again",
      #result.done,
      #result.done == 1 and "" or "s"
    )
    local forceable = vim.tbl_filter(function(c)
      return c.forceable
    end, result.conflicts)
    if #result.conflicts == 0 then
      return vim.notify("sallyport: " .. done)
    end
    local text = ("%s; left alone: %s"):format(done, names(result.conflicts))
    if #forceable == 0 or params.force then
      return vim.notify("sallyport: " .. text, vim.log.levels.WARN)
    end
    vim.ui.select(
      { "leave them", "take them back all the same" },
      { prompt = text, kind = "sallyport.conflicts" },
      function(choice)
        if choice == "take them back all the same" then
          local paths = vim.tbl_map(path_of, forceable)
          take(method, vim.tbl_extend("force", params, { turnId = result.of, paths = paths, force = true }))
        end
      end
    )
  end)
end

--- Takes a turn back, or that again.
---@param method "undo"|"redo"
---@param turn? string default: the last one
---@param paths? string[] only these
function M.take(method, turn, paths)
  local s = session.get()
  take(method, { turnId = turn, cwd = folder(), sessionId = s and not s.gone and s.id or nil, paths = paths })
end

--- Takes back what a turn made of the file in the current window.
function M.file_back()
  local file = need(api.nvim_get_current_buf())
  if file then
    M.take("undo", current.turn, { path_of(file) })
  end
end

---@param row table
---@return string
local function row_text(row)
  local when = tostring(row.started):gsub("T", " "):sub(1, 16)
  local state = row.running and "running"
    or row.undone and "taken back"
    or row.interrupted and "interrupted"
    or row.stopReason
    or ""
  return ("%s  %s  %s  %d file%s  %s"):format(
    when,
    row.turnId,
    row.agent or row.kind,
    row.changed,
    row.changed == 1 and "" or "s",
    state
  )
end

--- Lists turns and opens the review of the one that is picked.
function M.turns()
  client.request("sallyport/turn/list", { cwd = folder() }, function(err, result)
    if err then
      return fail(err)
    end
    if #result.turns == 0 then
      return vim.notify("sallyport: there is no turn yet")
    end
    vim.ui.select(result.turns, { prompt = "Turn", kind = "sallyport.turn", format_item = row_text }, function(row)
      if row then
        M.open(row.turnId)
      end
    end)
  end)
end

--- Shows the receipt of a turn as the terminal shows it.
---@param turn? string default: the newest
function M.receipt(turn)
  local function show(id)
    local cmd = { require("sallyport.config").get().cmd[1], "receipt", id }
    vim.system(
      cmd,
      { text = true, cwd = folder(), env = { NO_COLOR = "1" } },
      vim.schedule_wrap(function(out)
        if out.code ~= 0 then
          return vim.notify("sallyport: " .. vim.trim(out.stderr), vim.log.levels.ERROR)
        end
        vim.cmd("botright new")
        local buf = api.nvim_get_current_buf()
        api.nvim_buf_set_lines(buf, 0, -1, true, vim.split(vim.trim(out.stdout), "\n", { plain = true }))
        vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].modifiable = "nofile", "wipe", false
        pcall(api.nvim_buf_set_name, buf, "sallyport://receipt/" .. id)
        vim.keymap.set("n", "q", "<cmd>close<CR>", { buffer = buf, nowait = true })
      end)
    )
  end
  if turn then
    return show(turn)
  end
  client.request("sallyport/turn/list", { cwd = folder(), limit = 1 }, function(err, result)
    if err then
      return fail(err)
    end
    if #result.turns == 0 then
      return vim.notify("sallyport: there is no turn yet")
    end
    show(result.turns[1].turnId)
  end)
end

return M
