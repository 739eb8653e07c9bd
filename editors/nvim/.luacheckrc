std = "luajit"
read_globals = { "vim" }
globals = { "vim.g", "vim.b", "vim.w", "vim.o", "vim.bo", "vim.wo", "vim.opt", "vim.env", "vim.notify" }
max_line_length = false -- StyLua breaks lines
files["spec"] = { globals = { "arg" } }
