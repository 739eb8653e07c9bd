--- What the specs share: a test, an equality that shows both sides, files that go away.
local M = { failed = 0, passed = 0 }

local dir = vim.fn.tempname()
vim.fn.mkdir(dir, "p")

--- Runs one test; the next one runs also when this one fails.
function M.test(name, f)
  local ok, err = xpcall(f, debug.traceback)
  if ok then
    M.passed = M.passed + 1
  else
    M.failed = M.failed + 1
    io.stdout:write(("FAIL %s\n%s\n"):format(name, err))
  end
end

--- Errs unless both are equal.
function M.same(got, want, what)
  if not vim.deep_equal(got, want) then
    error(("%s\n got: %s\nwant: %s"):format(what or "", vim.inspect(got), vim.inspect(want)), 2)
  end
end

--- Makes a file and gives its path.
function M.file(name, content)
  local path = dir .. "/" .. name
  local file = assert(io.open(path, "wb"))
  file:write(content)
  file:close()
  return path
end

--- Waits for a state; errs when it does not come.
function M.wait(what, f, ms)
  if not vim.wait(ms or 10000, f, 5) then
    error("waited in vain for " .. what, 2)
  end
end

function M.finish()
  vim.fn.delete(dir, "rf")
  io.stdout:write(("%d passed, %d failed\n"):format(M.passed, M.failed))
  if M.failed > 0 or M.passed == 0 then
    os.exit(1)
  end
end

return M
