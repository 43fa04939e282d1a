// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {Erc20} from "./Erc20.sol";

/// The token of the burn-and-mint lane. Only its minter makes and destroys it, so the supplies of
/// both chains and what is on its way always add up to the first supply.
contract BurnToken is Erc20 {
    address public immutable minter;

    error NotMinter();

    modifier onlyMinter() {
        if (msg.sender != minter) revert NotMinter();
        _;
    }

    constructor(string memory name_, string memory symbol_, address minter_, address holder, uint256 supply)
        Erc20(name_, symbol_, 6)
    {
        minter = minter_;
        _increase(holder, supply);
    }

    function mint(address to, uint256 value) external onlyMinter returns (bool) {
        _increase(to, value);
        return true;
    }

    /// Out of what the minter itself holds.
    function burn(uint256 value) external onlyMinter {
        _decrease(msg.sender, value);
    }
}
