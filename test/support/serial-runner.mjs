// Jest's own runner, one file after the other: what stops and kills whole stacks wants the machine for itself.
import jestRunner from 'jest-runner';

const TestRunner = jestRunner.default ?? jestRunner;

export default class SerialRunner extends TestRunner {
  isSerial = true;
}
