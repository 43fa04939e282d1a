/** What waits for this operator, for others, and what is broken. */
export default function NeedsYou() {
  return <h1>Needs you</h1>;
}
