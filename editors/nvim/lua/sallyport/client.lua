--- The one connection to `sallyport serve`: Neovim's own language client, with our messages beside LSP's.
local config = require("sallyport.config")
local wire = require("sallyport.wire")

local M = {}

local api, lsp = vim.api, vim.lsp

---@class sallyport.Connection
---@field id integer client id
---@field ready boolean initialize was answered
---@field waiting fun(err?: string)[] who waits for that

---@type sallyport.Connection?
local connection

--- Tells every file buffer to the server, so that agents see what is unsaved in it.
---@param buf integer
local function attachable(buf)
  return api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" and api.nvim_buf_get_name(buf) ~= ""
end

---@param buf integer
local function attach(buf)
  if connection and connection.ready and attachable(buf) then
    require("sallyport.apply").stamped(buf)
    lsp.buf_attach_client(buf, connection.id)
  end
end

---@param err? string
local function settle(err)
  local waiting = connection and connection.waiting or {}
  if connection then
    connection.waiting = {}
  end
  for _, f in ipairs(waiting) do
    f(err)
  end
end

--- Handlers of the server's messages, by method. A handler of a request may yield; see M.await.
---@return table<string, function>
local function handlers()
  local function lazy(module, name)
    return function(_, params)
      return require(module)[name](params)
    end
  end
  return {
    ["sallyport/session/update"] = lazy("sallyport.session", "update"),
    ["sallyport/session/notice"] = lazy("sallyport.session", "notice"),
    ["sallyport/permission"] = lazy("sallyport.card", "ask"),
    ["sallyport/permission/call"] = lazy("sallyport.card", "called"),
    ["sallyport/permission/settled"] = lazy("sallyport.card", "settled"),
    ["sallyport/document/apply"] = lazy("sallyport.apply", "handle"),
    ["sallyport/document/context"] = lazy("sallyport.context", "handle"),
    ["sallyport/session/unsaved"] = lazy("sallyport.card", "unsaved"),
  }
end

---@return vim.lsp.ClientConfig
local function client_config()
  return {
    name = "sallyport",
    cmd = config.get().cmd,
    root_dir = vim.fn.getcwd(),
    workspace_folders = { { uri = vim.uri_from_fname(vim.fn.getcwd()), name = vim.fn.getcwd() } },
    init_options = { sallyport = { client = "sallyport.nvim", version = "0.1.0", features = wire.features } },
    handlers = handlers(),
    flags = { debounce_text_changes = 0, exit_timeout = 3000 },
    on_init = function()
      connection.ready = true
      for _, buf in ipairs(api.nvim_list_bufs()) do
        attach(buf)
      end
      settle()
    end,
    on_exit = function(code, signal)
      vim.schedule(function()
        M.ended(code, signal)
      end)
    end,
  }
end

local group

local function watch()
  group = api.nvim_create_augroup("sallyport", {})
  api.nvim_create_autocmd("BufWritePost", {
    group = group,
    callback = function(event)
      require("sallyport.apply").stamped(event.buf)
    end,
  })
  api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost" }, {
    group = group,
    callback = function(event)
      attach(event.buf)
    end,
  })
end

--- Called when the server has ended. Sessions are gone with it; the next use starts it again.
---@param code integer
---@param signal integer
function M.ended(code, signal)
  if not connection then
    return
  end
  local was_ready = connection.ready
  local how = signal ~= 0 and ("signal " .. signal) or ("status " .. code)
  settle(("%s ended with %s"):format(table.concat(config.get().cmd, " "), how))
  connection = nil
  pcall(api.nvim_del_augroup_by_name, "sallyport")
  if was_ready then
    require("sallyport.session").lost()
  end
  if (code ~= 0 or (signal ~= 0 and signal ~= 15)) and vim.v.exiting == vim.NIL then
    vim.notify("sallyport: the server has ended (" .. how .. ")\nhint: :Sallyport log shows why", vim.log.levels.ERROR)
  end
end

--- Starts the server unless it runs, and calls back once it can be asked.
---@param done fun(err?: string)
function M.start(done)
  if connection then
    if connection.ready then
      return done()
    end
    connection.waiting[#connection.waiting + 1] = done
    return
  end
  local program = config.get().cmd[1]
  if vim.fn.executable(program) == 0 then
    return done(("%s is not on PATH; :checkhealth sallyport says what to do"):format(program))
  end
  connection = { id = -1, ready = false, waiting = { done } }
  watch()
  local ok, id
  if vim.fn.has("nvim-0.11") == 1 then
    ok, id = pcall(lsp.start, client_config(), { attach = false })
  else
    ok, id = pcall(lsp.start_client, client_config())
  end
  if not ok or not id then
    settle("starting " .. program .. " failed: " .. tostring(id))
    connection = nil
    return
  end
  connection.id = id
end

--- The language client, when it runs.
---@return vim.lsp.Client?
function M.client()
  return connection and connection.ready and lsp.get_client_by_id(connection.id) or nil
end

---@param client vim.lsp.Client
---@param name string
local function call(client, name, ...)
  if vim.fn.has("nvim-0.11") == 1 then
    return client[name](client, ...)
  end
  return client[name](...)
end

--- Sends a request, starting the server if need be. `done` gets an error or the result, never both.
---@param method string
---@param params table
---@param done? fun(err?: lsp.ResponseError|{message: string}, result?: any)
function M.request(method, params, done)
  done = done or function() end
  M.start(function(err)
    local client = M.client()
    if err or not client then
      return done({ message = err or "the server is not running" })
    end
    if next(params) == nil then
      params = vim.empty_dict()
    end
    call(client, "request", method, params, function(failed, result)
      done(failed, result)
    end)
  end)
end

--- Sends a notification, if the server runs.
---@param method string
---@param params table
function M.notify(method, params)
  local client = M.client()
  if client then
    call(client, "notify", method, params)
  end
end

--- Waits, in the handler of a request of the server, for what `start` is called back with. Neovim runs such a handler in
--- a coroutine of its own and answers when it returns; typing goes on meanwhile.
---@param start fun(resume: fun(...))
function M.await(start)
  local co = assert(coroutine.running())
  local early, waits
  start(function(...)
    if waits then
      local ok, err = coroutine.resume(co, ...)
      if not ok then
        vim.notify("sallyport: " .. tostring(err), vim.log.levels.ERROR)
      end
    else
      early = early or vim.F.pack_len(...)
    end
  end)
  if early then
    return vim.F.unpack_len(early)
  end
  waits = true
  return coroutine.yield()
end

--- Ends the server, and every agent with it.
function M.stop()
  local client = M.client()
  if client then
    call(client, "stop")
  end
end

return M
