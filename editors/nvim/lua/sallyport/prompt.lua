--- The place where a prompt is written: a small buffer below the conversation.
local config = require("sallyport.config")
local session = require("sallyport.session")

local M = {}

local api = vim.api

---@type table<string, integer> buffers by session id
local buffers = {}

local words = { "@selection", "@buffer", "@diagnostics" }

--- 'completefunc' of the prompt: @words, files of the project, and the agent's slash commands at the start.
---@param findstart integer
---@param base string
---@return integer|table
function M.complete(findstart, base)
  local s = session.get(vim.b.sallyport_session)
  local line = api.nvim_get_current_line()
  local col = api.nvim_win_get_cursor(0)[2]
  if findstart == 1 then
    local head = line:sub(1, col)
    local at = head:find("@[^%s@]*$") or (head:match("^/%S*$") and 1)
    return at and at - 1 or -3
  end
  local items = {}
  if base:sub(1, 1) == "/" then
    for _, c in ipairs(s and s.commands or {}) do
      if vim.startswith("/" .. c.name, base) then
        items[#items + 1] = { word = "/" .. c.name, menu = c.description }
      end
    end
    return items
  end
  for _, word in ipairs(words) do
    if vim.startswith(word, base) then
      items[#items + 1] = { word = word }
    end
  end
  local root = s and s.info.cwd or vim.fn.getcwd()
  local stem = base:sub(2)
  for _, path in
    ipairs(vim.fn.globpath(vim.fn.escape(root, ",`*?[]{}\\"), vim.fn.escape(stem, "`*?[]{}\\") .. "*", true, true))
  do
    local name = path:sub(#root + 2)
    items[#items + 1] = { word = "@" .. name .. (vim.fn.isdirectory(path) == 1 and "/" or "") }
  end
  return items
end

--- Programs that give the picture of the clipboard as PNG, by the variable that says that theirs is the screen.
local clipboards = {
  { env = "WAYLAND_DISPLAY", cmd = { "wl-paste", "--type", "image/png" } },
  { env = "DISPLAY", cmd = { "xclip", "-selection", "clipboard", "-target", "image/png", "-out" } },
  { cmd = { "pngpaste", "-" } },
}

--- Puts the picture of the clipboard into a file and its @word into the prompt.
function M.paste_image()
  for _, c in ipairs(clipboards) do
    if (not c.env or vim.env[c.env]) and vim.fn.executable(c.cmd[1]) == 1 then
      local ok, out = pcall(function()
        return vim.system(c.cmd, { text = false }):wait(5000)
      end)
      if ok and out.code == 0 and vim.startswith(out.stdout or "", "\137PNG") then
        local path = vim.fn.tempname() .. ".png"
        local file = assert(io.open(path, "wb"))
        file:write(out.stdout)
        file:close()
        return api.nvim_put({ "@" .. path .. " " }, "c", true, true)
      end
    end
  end
  vim.notify(
    "sallyport: the clipboard holds no picture\nhint: name a file instead, as in @shot.png",
    vim.log.levels.WARN
  )
end

---@param s sallyport.Session
---@param buf integer
local function submit(s, buf)
  local prompt = vim.trim(table.concat(api.nvim_buf_get_lines(buf, 0, -1, true), "\n"))
  if prompt == "" then
    return
  end
  if s.busy then
    return vim.notify("sallyport: a turn is running\nhint: :Sallyport cancel ends it", vim.log.levels.WARN)
  end
  vim.cmd.stopinsert()
  api.nvim_buf_set_lines(buf, 0, -1, true, { "" })
  require("sallyport").prompt({ session = s.id, prompt = prompt })
end

---@param s sallyport.Session
---@return integer
local function make(s)
  local buf = api.nvim_create_buf(false, true)
  buffers[s.id] = buf
  api.nvim_buf_set_name(buf, "sallyport://" .. s.id .. "/prompt")
  local o = vim.bo[buf]
  o.buftype, o.bufhidden, o.swapfile = "nofile", "hide", false
  o.filetype = "sallyport-prompt"
  o.completefunc = "v:lua.require'sallyport.prompt'.complete"
  vim.b[buf].sallyport_session = s.id
  local function map(mode, lhs, rhs, desc)
    vim.keymap.set(mode, lhs, rhs, { buffer = buf, desc = desc })
  end
  map("n", "<CR>", function()
    submit(s, buf)
  end, "send the prompt")
  map("i", "<C-s>", function()
    submit(s, buf)
  end, "send the prompt")
  map("n", "q", "<cmd>close<CR>", "close the prompt")
  map("i", "@", "@<C-x><C-u>", "complete a context word")
  map({ "n", "i" }, "<C-v>", M.paste_image, "paste the picture of the clipboard")
  vim.keymap.set("i", "<Tab>", function()
    return vim.fn.pumvisible() == 1 and "<C-n>" or "<C-x><C-u>"
  end, { buffer = buf, expr = true, desc = "complete" })
  return buf
end

--- Opens the prompt below the conversation, in Insert mode.
---@param s sallyport.Session
function M.open(s)
  local buf = buffers[s.id]
  if not buf or not api.nvim_buf_is_valid(buf) then
    buf = make(s)
  end
  local win = vim.fn.win_findbuf(buf)[1]
  if not win then
    require("sallyport.view").open(s)
    vim.cmd("belowright " .. config.get().prompt_height .. "split")
    win = api.nvim_get_current_win()
    api.nvim_win_set_buf(win, buf)
    local o = vim.wo[win][0]
    o.winbar, o.number, o.relativenumber, o.signcolumn = " <CR> or <C-s> sends · @ names context", false, false, "no"
    o.winfixheight, o.wrap, o.linebreak = true, true, true
  end
  api.nvim_set_current_win(win)
  vim.cmd.startinsert({ bang = true })
end

return M
