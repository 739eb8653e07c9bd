--- The conversation in a buffer. What comes in is gathered and drawn at most every 30 ms, and text that only grew is
--- appended, so that a fast agent never holds up typing.
local config = require("sallyport.config")
local draw = require("sallyport.draw")
local session = require("sallyport.session")

local M = {}

local api = vim.api

local DRAW_EVERY = 30 -- ms
local DRAW_AT_ONCE = 8192 -- bytes of a text

---@class sallyport.Region the lines of one item
---@field first integer 0-based
---@field count integer
---@field drawn integer parts of the item's text that are drawn

---@class sallyport.View
---@field buf integer
---@field session sallyport.Session
---@field regions table<sallyport.Item, sallyport.Region>
---@field shown integer items that have a region
---@field folded table<integer, table<sallyport.Item, true>> what is folded, by window
---@field timer? uv.uv_timer_t a drawing is due

---@type table<string, sallyport.View> by session id
local views = {}

---@param view sallyport.View
---@param from integer
---@param to integer
---@param lines string[]
local function set_lines(view, from, to, lines)
  vim.bo[view.buf].modifiable = true
  api.nvim_buf_set_lines(view.buf, from, to, false, lines)
  vim.bo[view.buf].modifiable = false
end

--- Items whose text grows by appending.
local grows = { user = "", agent = "", thought = "> " }

--- Appends what an item's text has grown by.
---@param view sallyport.View
---@param item sallyport.Item
---@param region sallyport.Region
---@return boolean whether more is left
local function append(view, item, region)
  local delta
  delta, region.drawn = session.text(item, region.drawn + 1, DRAW_AT_ONCE)
  if delta == "" then
    return region.drawn < #item.parts
  end
  local lines = vim.split((delta:gsub("\r\n", "\n"):gsub("%z", "␀")), "\n", { plain = true })
  for i = 2, #lines do
    lines[i] = grows[item.kind] .. lines[i]
  end
  local row = region.first + region.count - 2 -- before the empty line
  vim.bo[view.buf].modifiable = true
  local col = #api.nvim_buf_get_lines(view.buf, row, row + 1, true)[1]
  api.nvim_buf_set_text(view.buf, row, col, row, col, lines)
  vim.bo[view.buf].modifiable = false
  region.count = region.count + #lines - 1
  return region.drawn < #item.parts
end

--- More lines of a tool than these fold, and every thought.
local FOLD_FROM = 12

--- Folds what is long and finished, in each window once: who opens a fold keeps it open.
---@param view sallyport.View
local function fold(view)
  if config.get().thoughts == "open" then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(view.buf)) do
    local done = view.folded[win] or {}
    view.folded[win] = done
    for i = 1, view.shown - 1 do
      local item = view.session.items[i]
      local r = view.regions[item]
      local first, last = r.first + 1, r.first + r.count - 1
      if item.kind == "tool" then
        first = first + 1
      end
      local long = item.kind == "thought" and r.count > 2 or item.kind == "tool" and r.count > FOLD_FROM
      if long and not done[item] then
        done[item] = true
        api.nvim_win_call(win, function()
          vim.cmd(("silent! %d,%dfold"):format(first, last))
        end)
      end
    end
  end
end

--- Forgets the fold of an item whose lines are made anew.
---@param view sallyport.View
---@param item sallyport.Item
local function unfold(view, item)
  for win, done in pairs(view.folded) do
    if done[item] and api.nvim_win_is_valid(win) then
      local row = view.regions[item].first + 2
      api.nvim_win_call(win, function()
        local place = vim.fn.winsaveview()
        vim.cmd(("silent! keepjumps normal! %dGzD"):format(row))
        vim.fn.winrestview(place)
      end)
    end
    done[item] = nil
  end
end

---@param view sallyport.View
---@param item sallyport.Item
local function redraw(view, item)
  local region = view.regions[item]
  local lines = draw.item(item, view.session.info.cwd)
  local before = region.count
  unfold(view, item)
  set_lines(view, region.first, region.first + before, lines)
  region.count, region.drawn = #lines, #item.parts
  if #lines == before then
    return
  end
  local first = region.first + region.count
  local found = false
  for i = 1, view.shown do
    local other = view.session.items[i]
    if found then
      view.regions[other].first = first
      first = first + view.regions[other].count
    end
    found = found or other == item
  end
end

---@param view sallyport.View
---@return integer[] windows that follow the conversation's end
local function following(view)
  local last = api.nvim_buf_line_count(view.buf)
  return vim.tbl_filter(function(win)
    return api.nvim_win_get_cursor(win)[1] >= last - 1
  end, vim.fn.win_findbuf(view.buf))
end

--- Shows the end of a conversation at the bottom of a window.
---@param view sallyport.View
---@param win integer
local function to_end(view, win)
  api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(view.buf), 0 })
  api.nvim_win_call(win, function()
    vim.cmd("normal! zb")
  end)
end

--- Draws anew what was changed and does not only grow.
---@param view sallyport.View
---@return boolean
local function redraw_changed(view)
  local s = view.session
  local any = false
  for item in pairs(s.changed) do
    if view.regions[item] and not grows[item.kind] then
      redraw(view, item)
      any = true
    end
  end
  s.changed = {}
  return any
end

--- Shows the next item; of one that grows only what stands before its text.
---@param view sallyport.View
local function show_next(view)
  local item = view.session.items[view.shown + 1]
  local lines = draw.item(grows[item.kind] and { kind = item.kind, parts = {} } or item, view.session.info.cwd)
  local count = api.nvim_buf_line_count(view.buf)
  local first = view.shown == 0 and 0 or count
  set_lines(view, first, view.shown == 0 and -1 or count, lines)
  view.regions[item] = { first = first, count = #lines, drawn = 0 }
  view.shown = view.shown + 1
end

--- Draws what has changed, or as much of it as takes no time that a person notices.
---@param view sallyport.View
---@return boolean whether more is left to draw
local function flush(view)
  if not api.nvim_buf_is_valid(view.buf) then
    return false
  end
  local tails = following(view)
  local items = view.session.items
  local any = redraw_changed(view)
  local more = false
  while true do
    local last = items[view.shown]
    if last and grows[last.kind] and view.regions[last].drawn < #last.parts then
      more = append(view, last, view.regions[last])
      any = true
    end
    if more or view.shown == #items then
      break
    end
    show_next(view)
    any = true
  end
  fold(view)
  if any then
    for _, win in ipairs(tails) do
      to_end(view, win)
    end
  end
  M.bar(view)
  return more
end

---@param view sallyport.View
local function due(view)
  if view.timer then
    return
  end
  view.timer = assert(vim.uv.new_timer())
  view.timer:start(
    DRAW_EVERY,
    0,
    vim.schedule_wrap(function()
      if view.timer then
        view.timer:stop()
        view.timer:close()
        view.timer = nil
        if flush(view) then
          due(view)
        end
      end
    end)
  )
end

--- Draws at once what waits to be drawn.
---@param id? string session
function M.flush(id)
  for key, view in pairs(views) do
    if not id or key == id then
      repeat
      until not flush(view)
    end
  end
end

--- 'foldtext' of a conversation.
---@return string
function M.foldtext()
  local first = api.nvim_buf_get_lines(0, vim.v.foldstart - 1, vim.v.foldstart, false)[1] or ""
  local n = vim.v.foldend - vim.v.foldstart + 1
  return ("%s (%d lines)"):format(vim.startswith(first, ">") and "> thought" or "  output", n)
end

---@param buf integer
---@return sallyport.View?
function M.of(buf)
  for _, view in pairs(views) do
    if view.buf == buf then
      return view
    end
  end
end

--- The line above a conversation: agent, mode, and what holds.
---@param view sallyport.View
function M.bar(view)
  local info = view.session.info
  local posture = info.posture and info.posture.sentence or ""
  local state = view.session.gone and "ended" or (view.session.busy and "working" or (info.mode or ""))
  local usage = view.session.usage or {}
  if type(usage.used) == "number" and type(usage.size) == "number" and usage.size > 0 then
    state = ("%s · context %d%%"):format(state, math.floor(100 * usage.used / usage.size))
  end
  local text = (" %s · %s · %s"):format(info.agent or "?", state, posture):gsub("[%c]", " ")
  for _, win in ipairs(vim.fn.win_findbuf(view.buf)) do
    local room = api.nvim_win_get_width(win)
    local shown = text
    if vim.fn.strdisplaywidth(text) > room then
      shown = vim.fn.strcharpart(text, 0, room - 1) .. "…"
    end
    vim.wo[win][0].winbar = shown:gsub("%%", "%%%%")
  end
end

---@param view sallyport.View
local function dress(view)
  for _, win in ipairs(vim.fn.win_findbuf(view.buf)) do
    local o = vim.wo[win][0]
    o.wrap, o.linebreak, o.number, o.relativenumber, o.signcolumn, o.spell = true, true, false, false, "no", false
    o.conceallevel = 2
    o.foldmethod, o.foldtext = "manual", "v:lua.require'sallyport.view'.foldtext()"
    o.foldenable = true
  end
  M.bar(view)
end

--- Colours a buffer as Markdown with diffs. Not by tree-sitter, which parses a whole paragraph anew for each of
--- thousands of chunks.
---@param buf integer
function M.colour(buf)
  vim.bo[buf].syntax = "markdown"
  api.nvim_buf_call(buf, function()
    vim.cmd([[
      syntax region sallyportDiff matchgroup=Comment start=/^`\{3,}diff$/ end=/^`\{3,}$/ keepend
      syntax match sallyportAdded /^+.*/ contained containedin=sallyportDiff
      syntax match sallyportRemoved /^-.*/ contained containedin=sallyportDiff
      syntax match sallyportPlace /^@@.*/ contained containedin=sallyportDiff
      highlight default link sallyportAdded Added
      highlight default link sallyportRemoved Removed
      highlight default link sallyportPlace Comment
    ]])
  end)
end

---@param s sallyport.Session
---@return sallyport.View
local function make(s)
  local buf = api.nvim_create_buf(false, true)
  local view = { buf = buf, session = s, regions = {}, shown = 0, folded = {} }
  views[s.id] = view
  api.nvim_buf_set_name(buf, "sallyport://" .. s.id)
  local o = vim.bo[buf]
  o.buftype, o.bufhidden, o.swapfile, o.undolevels, o.modifiable = "nofile", "hide", false, -1, false
  o.filetype = "sallyport"
  M.colour(buf)
  local function map(lhs, rhs, desc)
    vim.keymap.set("n", lhs, rhs, { buffer = buf, desc = desc, nowait = true })
  end
  map("i", function()
    require("sallyport.prompt").open(s)
  end, "write a prompt")
  map("<CR>", function()
    require("sallyport.card").focus(s)
  end, "answer the permission that waits")
  map("g?", "<cmd>help sallyport-conversation<CR>", "help")
  map("<C-c>", "<cmd>Sallyport cancel<CR>", "cancel the turn")
  api.nvim_create_autocmd("BufWinEnter", {
    buffer = buf,
    callback = function()
      view.folded[api.nvim_get_current_win()] = nil
      dress(view)
      fold(view)
    end,
  })
  local resized = api.nvim_create_autocmd({ "VimResized", "WinResized" }, {
    callback = function()
      M.bar(view)
      for _, win in ipairs(following(view)) do
        to_end(view, win)
      end
    end,
  })
  api.nvim_create_autocmd("BufWipeout", {
    buffer = buf,
    callback = function()
      views[s.id] = nil
      api.nvim_del_autocmd(resized)
    end,
  })
  return view
end

session.listen(function(s)
  if views[s.id] then
    due(views[s.id])
  end
end)

--- Whether a conversation is on screen.
---@param s sallyport.Session
---@return boolean
function M.visible(s)
  return views[s.id] ~= nil and #vim.fn.win_findbuf(views[s.id].buf) > 0
end

--- The buffer of a conversation, made by the first call. It may not hold everything yet.
---@param s sallyport.Session
---@return integer
function M.behind(s)
  return (views[s.id] or make(s)).buf
end

--- The buffer of a conversation, with all that was said.
---@param s sallyport.Session
---@return integer
function M.buffer(s)
  local buf = M.behind(s)
  M.flush(s.id)
  return buf
end

--- Shows a conversation, in the window where it is, or in a new one.
---@param s sallyport.Session
---@return integer win
function M.open(s)
  local buf = M.buffer(s)
  local win = vim.fn.win_findbuf(buf)[1]
  if not win then
    local how = config.get().open
    if how == "tab" then
      vim.cmd("tab split")
    elseif how ~= "none" then
      vim.cmd(how == "split" and "botright split" or "botright vsplit")
    end
    win = api.nvim_get_current_win()
    api.nvim_win_set_buf(win, buf)
  end
  api.nvim_set_current_win(win)
  dress(views[s.id])
  to_end(views[s.id], win)
  return win
end

return M
