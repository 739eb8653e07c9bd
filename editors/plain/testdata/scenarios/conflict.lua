-- What is typed on the very line that the agent changes stays; the agent is
-- told to read again.
local T = ...
T.put('a.txt', 'one\ntwo\nthree\n')
T.open('a.txt')
T.answers = {
  function(choose)
    T.keys('2Gccmine now<Esc>')
    choose('Allow')
  end,
}
T.turn('please-edit')
T.same(T.text(), 'one\nmine now\nthree\n', 'the buffer after the turn')
local file = assert(T.conversation(), 'the conversation is not shown')
local told = table.concat(vim.fn.readfile(file), '\n'):match('The write said: (%b())')
T.contains(told, 'read', 'what the agent was told')
