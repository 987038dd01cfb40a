// What AWS's rules say to each request, by @cloud-copilot/iam-simulate.
// stdin: [{policy, action, resource, leadingKey}]; stdout: ["Allowed" | "ImplicitlyDenied" | …], in that order.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const { runSimulation } = createRequire(process.argv[2] + '/')('@cloud-copilot/iam-simulate')
const answers = []
for (const { policy, action, resource, leadingKey } of JSON.parse(readFileSync(0, 'utf8'))) {
  const simulation = {
    identityPolicies: [{ name: 'work', policy }],
    serviceControlPolicies: [],
    resourceControlPolicies: [],
    request: {
      action,
      resource: { resource, accountId: '000000000000' },
      principal: 'arn:aws:iam::000000000000:role/work',
      contextVariables: leadingKey === null ? {} : { 'dynamodb:LeadingKeys': [leadingKey] },
    },
  }
  const result = await runSimulation(simulation, {})
  answers.push(result.resultType === 'error' ? result : result.overallResult)
}
console.log(JSON.stringify(answers))
