import { startPage } from '../../pages/dom.js';

startPage(() => import('./reward.js'));
