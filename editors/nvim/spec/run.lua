-- Runs the specs that are named: nvim --clean --headless -l spec/run.lua spec/text_spec.lua …
local root = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h")
vim.opt.runtimepath:prepend(root)
package.path = root .. "/?.lua;" .. package.path
vim.o.swapfile = false
local check = require("spec.check")
for _, path in ipairs(_G.arg) do
  dofile(path)
end
check.finish()
