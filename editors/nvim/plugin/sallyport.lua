-- Defines the command and the <Plug> maps; everything else is loaded by their first use.
if vim.g.loaded_sallyport then
  return
end
vim.g.loaded_sallyport = true

vim.api.nvim_create_user_command("Sallyport", function(args)
  require("sallyport.command").run(args)
end, {
  nargs = "*",
  range = true,
  bang = true,
  desc = "Talk to a coding agent through Sallyport",
  complete = function(lead, line)
    return require("sallyport.command").complete(lead, line)
  end,
})

for name, sub in pairs({ Open = "open", Answer = "answer", Cancel = "cancel", Undo = "undo", Mode = "mode" }) do
  vim.keymap.set("n", "<Plug>(Sallyport" .. name .. ")", function()
    require("sallyport.command").run({ fargs = { sub }, range = 0 })
  end, { desc = "Sallyport: " .. sub })
end
vim.keymap.set({ "n", "x" }, "<Plug>(SallyportAsk)", ":Sallyport ask<CR>", { desc = "Sallyport: ask" })
