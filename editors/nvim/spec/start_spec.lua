-- What costs nothing before it is used, and what health and help say.
local child = require("spec.child")
local t = require("spec.check")

local root = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h")

child.test("nothing is loaded before the first use", function(n)
  local loaded = n:lua([[
    local out = {}
    for name in pairs(package.loaded) do
      if name:match("^sallyport") then table.insert(out, name) end
    end
    return out
  ]])
  t.same(loaded, {})
  t.same(n:lua([[return #vim.lsp.get_clients()]]), 0)
end)

child.test("the command completes its subcommands and modes", function(n)
  t.same(n:lua([[return vim.fn.getcompletion("Sallyport ca", "cmdline")]]), { "cancel" })
  n:cmd("Sallyport no-such")
  t.same(
    n:lua([[return _G.notes[1].text]]):match('^sallyport: "no%-such" is no subcommand'),
    'sallyport: "no-such" is no subcommand'
  )
end)

child.test("health finds the server and the agents", function(n)
  n:cmd("checkhealth sallyport")
  n:wait(
    "the report",
    [[table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n"):find("server is not running", 1, true)]]
  )
  local report = table.concat(n:lua([[return vim.api.nvim_buf_get_lines(0, 0, -1, true)]]), "\n")
  for _, wanted in ipairs({ "OK Neovim ", "OK sallyport ", "OK scripted: " }) do
    assert(report:find(wanted, 1, true), wanted .. "\n" .. report)
  end
  t.same(report:find("ERROR", 1, true), nil, report)
end)

child.test("health says what to do without the server", function(n)
  n:lua([[require("sallyport").setup({ cmd = { "no-such-program" } })]])
  n:cmd("checkhealth sallyport")
  n:wait("the report", [[table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n"):find("not on PATH", 1, true)]])
  n:cmd("Sallyport open")
  n:wait("the message", "#_G.notes > 0")
  t.same(n:lua([[return _G.notes[#_G.notes].text]]):match("checkhealth"), "checkhealth")
end)

child.test("wrong settings are told and ignored", function(n)
  n:lua([[require("sallyport").setup({ opne = "tab", open = "sideways", prompt_height = 9 })]])
  local text = vim
    .iter(n:lua("return _G.notes"))
    :map(function(x)
      return x.text
    end)
    :join("\n")
  assert(text:find('"opne" is not known', 1, true), text)
  assert(text:find("open has to be one of none, split, tab, vsplit", 1, true), text)
  t.same(n:lua([[local c = require("sallyport.config").get(); return { c.open, c.prompt_height }]]), { "vsplit", 9 })
end)

t.test("every tag of the help is there once, and every link leads somewhere", function()
  local doc = vim.fn.tempname()
  vim.fn.mkdir(doc, "p")
  vim.uv.fs_copyfile(root .. "/doc/sallyport.txt", doc .. "/sallyport.txt")
  vim.cmd.helptags(doc)
  local tags = {}
  for line in io.lines(doc .. "/tags") do
    tags[line:match("^[^\t]+")] = true
  end
  local file = assert(io.open(root .. "/doc/sallyport.txt"))
  local text = file:read("*a")
  file:close()
  for link in text:gmatch("|([%w_:%.%-%(%)]+)|") do
    if link:lower():find("sallyport", 1, true) then
      assert(tags[link], "the help links to " .. link)
    end
  end
  for _, command in ipairs(require("sallyport.command").names()) do
    assert(text:find(command, 1, true), "the help does not know " .. command)
  end
end)

if vim.fn.has("nvim-0.12") == 1 then
  child.test("vim.pack installs it, as the README says", function(n)
    local repo = vim.fn.tempname()
    vim.fn.mkdir(repo .. "/editors", "p")
    vim.fn.system({ "cp", "-r", root, repo .. "/editors/nvim" })
    for _, args in ipairs({
      { "init", "-q" },
      { "add", "." },
      { "-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-qm", "x" },
    }) do
      local done = vim.system(vim.list_extend({ "git", "-C", repo }, args)):wait()
      t.same(done.code, 0, done.stderr)
    end
    local readme = assert(io.open(root .. "/README.md")):read("*a")
    local code = assert(readme:match("```lua\n(vim%.pack.-)```"), "the README has no vim.pack")
    code = code:gsub('"https://[^"]*"', function()
      return ("{ src = %q, name = 'sallyport' }"):format("file://" .. repo)
    end)
    n:lua(
      [[
      local root = ...
      vim.opt.runtimepath:remove(root)
      vim.api.nvim_del_user_command("Sallyport")
      vim.g.loaded_sallyport = nil
    ]],
      root
    )
    n:lua(code:gsub("vim.pack.add%(", "vim.pack.add("):gsub("}, {%s*load", "}, { confirm = false, load"))
    t.same(n:lua([[return vim.fn.exists(":Sallyport")]]), 2)
    t.same(#n:lua([[return vim.fn.getcompletion("sallyport-setup", "help")]]), 1, "the help is found")
  end)
end

t.test("Neovim starts as fast as without", function()
  local log = vim.fn.tempname()
  vim.fn.system({
    vim.v.progpath,
    "--clean",
    "--headless",
    "--startuptime",
    log,
    "--cmd",
    "set runtimepath^=" .. root,
    "+qall",
  })
  local total = 0
  for line in io.lines(log) do
    local own = line:match("^%S+%s+%S+%s+(%S+): sourcing .*/plugin/sallyport%.lua")
      or line:match("^%S+%s+(%S+): sourcing .*/plugin/sallyport%.lua")
    total = total + (tonumber(own) or 0)
  end
  assert(total > 0, "the plugin was not sourced")
  print(("sourcing the plugin took %.3f ms"):format(total))
end)
