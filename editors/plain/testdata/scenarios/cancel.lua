-- A running command is cancelled by our command, and in the next turn by the
-- cancel button of the progress.
local T = ...
T.put('a.txt', 'one\n')
T.open('a.txt')
local function running()
  return T.disk('running.txt') ~= nil
end
T.ask('please-run')
T.wait('the command runs', running)
T.wait('the progress says what runs', function()
  for _, p in ipairs(T.progress) do
    if (p.message or ''):find('sleep 10007', 1, true) then
      return true
    end
  end
end)
T.command('sallyport.cancel')
T.wait('the end of the turn', function()
  return T.ends == 1
end)
T.contains(T.ending(), 'cancel', 'how it ended')

assert(os.remove(T.path('running.txt')))
T.ask('please-run')
T.wait('the command runs again', running)
local token = T.progress[#T.progress].token
if T.client.exec_cmd then
  T.client:notify('window/workDoneProgress/cancel', { token = token })
else
  T.client.notify('window/workDoneProgress/cancel', { token = token })
end
T.wait('the end of the second turn', function()
  return T.ends == 2
end)
T.contains(T.ending(), 'cancel', 'how the second ended')
T.turn('please-tell') -- the session lives
T.same(T.ends, 3, 'turns that ended')

T.command('sallyport.cancel')
T.wait('being told that nothing runs', function()
  return T.noted('no turn is running')
end)
