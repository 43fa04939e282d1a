/** USDC for the treasury signer of a stack of its own. */
import { eventually, type OwnStack } from './own-stack.ts';
import { storeTemplate, withdrawal } from './plans.ts';

/** Withdraws `amount` to the signer's account, and waits until approvals see it there. */
export async function fundSigner(own: OwnStack, amount: string): Promise<void> {
  const template = await storeTemplate(own.api, [withdrawal(own.stack.chain, 'fund')]);
  const fund = await own.api.create(template, { amount });
  await own.api.approve(fund);
  await own.api.reaches(fund.movement_id, 'COMPLETED');
  const pool = encodeURIComponent('local-chain:dev-treasury');
  await eventually(
    async () => {
      const { balances } = (await own.api.expect(
        200,
        'GET',
        `/balances?venue_key=${pool}&asset=USDC&fresh=true`,
      )) as { balances?: readonly { withdrawable: string }[] };
      return balances?.[0]?.withdrawable === amount ? true : null;
    },
    { what: () => `${amount} USDC to be seen` },
  );
}
