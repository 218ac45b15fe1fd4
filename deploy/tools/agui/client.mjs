// A real AG-UI client against a session of a gateway (page 06, AP-9). The test
// adapters/api/agui_client_test.go starts it:
//
//	node client.mjs URL TOKEN
//
// It runs, is interrupted by a question, tries to run on without an answer, then
// resumes with one, and writes what happened as one line of JSON for each step.
import { HttpAgent, buildResumeArray, isInterruptExpired } from "@ag-ui/client";

const [url, token] = process.argv.slice(2);
const agent = new HttpAgent({ url, headers: { Authorization: `Bearer ${token}` }, threadId: "a-thread" });

const say = (step) => console.log(JSON.stringify(step));

// run is one run: its events' types, and how it ended.
async function run(name, parameters) {
  const step = { name, events: [] };
  const outcome = ({ outcome, interrupts }) => Object.assign(step, { outcome, interrupts });
  try {
    await agent.runAgent(parameters, { onEvent: ({ event }) => { step.events.push(event.type); }, onRunFinishedEvent: outcome });
  } catch (error) {
    step.error = error.message;
  }
  say(step);
  return step;
}

await run("first", {});
await run("without an answer", {});
const pending = agent.pendingInterrupts;
say({ name: "pending", ids: pending.map((i) => i.id), expired: pending.some((i) => isInterruptExpired(i)) });
const answers = Object.fromEntries(pending.map((i) => [i.id, { status: "resolved", payload: { optionId: i.responseSchema.properties.optionId.enum[0] } }]));
await run("resumed", { resume: buildResumeArray(pending, answers) });
say({ name: "pending", ids: agent.pendingInterrupts.map((i) => i.id), expired: false });
