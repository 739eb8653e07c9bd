-- The examples of testdata/wire hold what the plugin's wire.lua says, no more and no less.
local t = require("spec.check")
local wire = require("sallyport.wire")

local dir =
  vim.fs.normalize(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h") .. "/../../../testdata/wire")

local function example(method)
  local name = method:gsub("^sallyport/", ""):gsub("/", ".")
  local file = assert(io.open(("%s/%s.json"):format(dir, name)), "no example of " .. method)
  local decoded = vim.json.decode(file:read("*a"), { luanil = { object = false } })
  file:close()
  return decoded
end

local function agrees(what, fields, value)
  local known = {}
  for _, field in ipairs(fields) do
    local name, optional = field:match("^(.-)(%??)$")
    known[name] = true
    if optional == "" and value[name] == nil then
      error(("%s: %s is missing"):format(what, name))
    end
  end
  for name in pairs(value) do
    if not known[name] then
      error(("%s: %s is not known"):format(what, name))
    end
  end
end

for method, shape in vim.spairs(wire.shapes) do
  t.test(method, function()
    local e = example(method)
    for part, fields in pairs(shape) do
      assert(e[part] ~= nil, method .. " has no example of its " .. part)
      agrees(method .. " " .. part, fields, e[part])
    end
  end)
end

t.test("a field that is missing, and one too many, are noticed", function()
  t.same(pcall(agrees, "x", { "a", "b?" }, { b = 1 }), false)
  t.same(pcall(agrees, "x", { "a" }, { a = 1, c = 1 }), false)
  t.same(pcall(agrees, "x", { "a", "b?" }, { a = 1 }), true)
end)
