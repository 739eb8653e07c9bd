-- A turn cancelled while its question is on screen: an answer that comes then
-- does nothing, and neither does a write of the agent.
local T = ...
T.put('a.txt', 'one\ntwo\nthree\n')
T.open('a.txt')
local answer
T.answers = {
  function(choose)
    answer = choose
  end,
}
T.ask('please-edit')
T.wait('the question', function()
  return answer
end)
T.command('sallyport.cancel')
T.wait('the end of the turn', function()
  return T.ends == 1
end)
T.contains(T.ending(), 'cancel', 'how it ended')
answer('Allow')
-- The next turn comes behind whatever the late answer might have done.
T.turn('please-tell')
T.same(T.text(), 'one\ntwo\nthree\n', 'the buffer after all')
T.same(T.disk('a.txt'), 'one\ntwo\nthree\n', 'the file on disk')
