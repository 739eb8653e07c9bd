-- What is typed while the agent thinks is merged with what it writes, and one
-- undo takes back the agent's part alone.
local T = ...
T.put('a.txt', 'one\ntwo\nthree\n')
T.open('a.txt')
T.answers = {
  function(choose)
    T.keys('ggOabove<Esc>Gobelow<Esc>')
    choose('Allow')
  end,
}
T.turn('please-edit')
T.same(T.text(), 'above\none\nTWO\nthree\nbelow\n', 'the buffer after the turn')
T.keys('u')
T.same(T.text(), 'above\none\ntwo\nthree\nbelow\n', 'the buffer after u')
T.same(T.disk('a.txt'), 'one\ntwo\nthree\n', 'the file on disk')
