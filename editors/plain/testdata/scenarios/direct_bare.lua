-- A6 in a Neovim that has only its client: the text is there within a second of the
-- turn's end, as an edit, and it is said once that Neovim could load it by itself.
-- Outside of turns the file is left to Neovim, which loads it when it gets the focus.
local T = ...
T.put('a.txt', 'one\ntwo\nthree\n')
T.open('a.txt')
T.turn('please-direct')
T.wait('the write is in the buffer', function()
  return T.text() == 'one\nTWO\nthree\n'
end, 1000)
T.wait('what to do is said', function()
  return T.noted('the autocmd of README.md')
end)
T.agree('after the write')
T.keys('u')
T.same(T.text(), 'one\ntwo\nthree\n', 'undone in one step')
