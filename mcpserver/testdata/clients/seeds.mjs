// A client of the TypeScript SDK 1 that makes the calls of other servers' documents, as seeds.json has them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const { calls } = JSON.parse(readFileSync('seeds.json', 'utf8'))
const client = new Client({ name: 'seeds', version: '1' }, { capabilities: {} })
await client.connect(new StdioClientTransport({ command: process.env.SERVER, env: { ...process.env } }))
await client.listTools() // the schemas of the answers, which callTool holds them against

const kept = { root: process.env.ROOT }
const filled = (text) => Object.entries(kept).reduce((t, [name, value]) => t.replaceAll(`{${name}}`, value), text)
const at = (value, path) => path.split('.').reduce((v, name) => v?.[name], value)

for (const call of calls) {
  const request = { name: call.tool, arguments: JSON.parse(filled(JSON.stringify(call.arguments))) }
  let answer = await client.callTool(request)
  for (let tries = 0; call.until && answer.isError && tries < 1000; tries++) {
    await setTimeout(20)
    answer = await client.callTool(request)
  }
  const shown = `${call.name}: ${JSON.stringify(answer)}`
  assert.equal(!!answer.isError, !!call.error, shown)
  if (call.error) assert.ok(answer.structuredContent.error.code && answer.structuredContent.error.message, shown)
  const text = answer.content.filter((part) => part.type === 'text').map((part) => part.text)
  if (/^[{[]/.test(text[0])) JSON.parse(text[0])
  for (const word of call.text ?? []) assert.ok(text.join('\n').includes(word), shown)
  for (const [path, want] of Object.entries(call.data ?? {})) {
    assert.deepEqual(at(answer.structuredContent, path), typeof want === 'string' ? filled(want) : want, `${path} of ${shown}`)
  }
  for (const [path, want] of Object.entries(call.tree ?? {})) assert.equal(readFileSync(join(kept.root, path), 'utf8'), want, shown)
  for (const [name, path] of Object.entries(call.keep ?? {})) kept[name] = String(at(answer.structuredContent, path))
}
await client.close()
console.log(`seeds: ${calls.length} calls ok`)
