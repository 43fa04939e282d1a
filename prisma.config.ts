/** Where Prisma's own commands find schema, migrations and database. */
import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: {
    url: process.env['SVC_DATABASE_URL'] ?? 'postgresql://localhost:5433/fund_movements',
  },
});
