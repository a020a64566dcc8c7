// A client of the TypeScript SDK 1 over stdio: the list, an answer with a schema, an error, and a question to a person.
import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const client = new Client({ name: 'sdk', version: '1' }, { capabilities: { elicitation: {} } })
const asked = []
client.setRequestHandler(ElicitRequestSchema, async (request) => {
  asked.push(request.params.message)
  return { action: 'accept', content: { approve: true } }
})
await client.connect(new StdioClientTransport({ command: process.env.SERVER, env: { ...process.env } }))

const { tools } = await client.listTools()
assert.equal(tools.length, 12)
const read = await client.callTool({ name: 'fs_read', arguments: { mode: 'Line', path: 'f000.txt' } })
assert.equal(read.content[1].text, '1\trecieve\n')
assert.equal(read.structuredContent.content, 'recieve\n')
const wrong = await client.callTool({ name: 'fs_read', arguments: { mode: 'Line' } })
assert.equal(wrong.isError, true)
assert.equal(wrong.structuredContent.error.code, 'invalid_arguments')
const { resources } = await client.listResources()
assert.equal(resources.length, 2)

const all = {
  name: 'all',
  steps: [
    { id: 'find', action: 'search', params: { pattern: 'recieve' } },
    { id: 'fix', action: 'edit', input_from: 'find', params: { old_text: 'recieve', new_text: 'receive' } },
  ],
}
const plan = await client.callTool({ name: 'plan_pipeline', arguments: { pipeline_json: JSON.stringify(all), diff: 'stat' } })
assert.match(plan.structuredContent.digest, /^[0-9a-f]{64}$/)
let progress = 0
const done = await client.callTool({ name: 'batch_operations', arguments: { pipeline_json: all } }, undefined, {
  onprogress: (p) => {
    assert.ok(p.progress > progress)
    progress = p.progress
  },
})
assert.ok(!done.isError, JSON.stringify(done))
assert.equal(asked.length, 1)
assert.match(done.structuredContent.summary, /^OK: 2\/2 steps \| 60 files/)
await client.close()
console.log('sdk: ok')
