// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {Endpoint, MessagingFee, MessagingParams, MessagingReceipt, Origin} from "./Endpoint.sol";
import {Erc20} from "./Erc20.sol";

struct SendParam {
    uint32 dstEid;
    bytes32 to;
    uint256 amountLD;
    uint256 minAmountLD;
    bytes extraOptions;
    bytes composeMsg;
    bytes oftCmd;
}

struct OFTLimit {
    uint256 minAmountLD;
    uint256 maxAmountLD;
}

struct OFTReceipt {
    uint256 amountSentLD;
    uint256 amountReceivedLD;
}

struct OFTFeeDetail {
    int256 feeAmountLD;
    string description;
}

/// A token that lives on several chains: what is sent is destroyed here and made there. Interface,
/// messages and errors are those of OFT of github.com/LayerZero-Labs/LayerZero-v2; the code is our
/// own, and takes neither options nor composed messages nor commands.
contract OmniToken is Erc20 {
    uint8 public constant sharedDecimals = 6;
    bool public constant approvalRequired = false;

    Endpoint public immutable endpoint;
    uint256 public immutable decimalConversionRate;
    address public immutable owner;
    mapping(uint32 => bytes32) public peers;

    event PeerSet(uint32 eid, bytes32 peer);
    event OFTSent(
        bytes32 indexed guid,
        uint32 dstEid,
        address indexed fromAddress,
        uint256 amountSentLD,
        uint256 amountReceivedLD
    );
    event OFTReceived(bytes32 indexed guid, uint32 srcEid, address indexed toAddress, uint256 amountReceivedLD);

    error InvalidLocalDecimals();
    error SlippageExceeded(uint256 amountLD, uint256 minAmountLD);
    error NoPeer(uint32 eid);
    error OnlyPeer(uint32 eid, bytes32 sender);
    error OnlyEndpoint(address addr);
    error NotEnoughNative(uint256 msgValue);
    error LzTokenUnavailable();
    error OwnableUnauthorizedAccount(address account);
    error NotOffered();

    constructor(string memory name_, string memory symbol_, uint8 decimals_, Endpoint endpoint_)
        Erc20(name_, symbol_, decimals_)
    {
        if (decimals_ < sharedDecimals) revert InvalidLocalDecimals();
        decimalConversionRate = 10 ** (decimals_ - sharedDecimals);
        endpoint = endpoint_;
        owner = msg.sender;
        endpoint_.setDelegate(msg.sender);
    }

    modifier onlyOwner() {
        if (msg.sender != owner) revert OwnableUnauthorizedAccount(msg.sender);
        _;
    }

    /// So that a chain begins with something to send.
    function mint(address to, uint256 value) external onlyOwner {
        _increase(to, value);
    }

    function setPeer(uint32 eid, bytes32 peer) external onlyOwner {
        peers[eid] = peer;
        emit PeerSet(eid, peer);
    }

    function oftVersion() external pure returns (bytes4 interfaceId, uint64 version) {
        return (0x02e49c2c, 1);
    }

    function oAppVersion() external pure returns (uint64 senderVersion, uint64 receiverVersion) {
        return (1, 2);
    }

    function token() external view returns (address) {
        return address(this);
    }

    function isPeer(uint32 eid, bytes32 peer) external view returns (bool) {
        return peers[eid] == peer;
    }

    function allowInitializePath(Origin calldata origin) external view returns (bool) {
        return peers[origin.srcEid] == origin.sender;
    }

    function nextNonce(uint32, bytes32) external pure returns (uint64) {
        return 0;
    }

    function quoteOFT(SendParam calldata param)
        external
        view
        returns (OFTLimit memory limit, OFTFeeDetail[] memory details, OFTReceipt memory receipt)
    {
        limit = OFTLimit(0, type(uint64).max);
        details = new OFTFeeDetail[](0);
        uint256 moved = _debitView(param);
        receipt = OFTReceipt(moved, moved);
    }

    function quoteSend(SendParam calldata param, bool payInLzToken) external view returns (MessagingFee memory) {
        return endpoint.quote(_params(param, _debitView(param), payInLzToken), address(this));
    }

    function send(SendParam calldata param, MessagingFee calldata fee, address refundAddress)
        external
        payable
        returns (MessagingReceipt memory messaging, OFTReceipt memory receipt)
    {
        uint256 moved = _debitView(param);
        _decrease(msg.sender, moved);
        if (msg.value != fee.nativeFee) revert NotEnoughNative(msg.value);
        if (fee.lzTokenFee > 0) revert LzTokenUnavailable();
        messaging = endpoint.send{value: msg.value}(_params(param, moved, false), refundAddress);
        receipt = OFTReceipt(moved, moved);
        emit OFTSent(messaging.guid, param.dstEid, msg.sender, moved, moved);
    }

    function lzReceive(Origin calldata origin, bytes32 guid, bytes calldata message, address, bytes calldata)
        external
        payable
    {
        if (msg.sender != address(endpoint)) revert OnlyEndpoint(msg.sender);
        if (_peer(origin.srcEid) != origin.sender) revert OnlyPeer(origin.srcEid, origin.sender);
        address to = address(uint160(uint256(bytes32(message[0:32]))));
        uint256 amount = uint256(uint64(bytes8(message[32:40]))) * decimalConversionRate;
        // As the published token has it: what nobody could hold goes to an address that nobody has.
        _increase(to == address(0) ? address(0xdead) : to, amount);
        emit OFTReceived(guid, origin.srcEid, to, amount);
    }

    function _peer(uint32 eid) private view returns (bytes32 peer) {
        peer = peers[eid];
        if (peer == bytes32(0)) revert NoPeer(eid);
    }

    /// What is truly moved: dust that the other chain could not show stays.
    function _debitView(SendParam calldata param) private view returns (uint256 moved) {
        moved = (param.amountLD / decimalConversionRate) * decimalConversionRate;
        if (moved < param.minAmountLD) revert SlippageExceeded(moved, param.minAmountLD);
    }

    function _params(SendParam calldata param, uint256 moved, bool payInLzToken)
        private
        view
        returns (MessagingParams memory)
    {
        if (param.composeMsg.length > 0) revert NotOffered();
        bytes memory message = abi.encodePacked(param.to, uint64(moved / decimalConversionRate));
        return MessagingParams(param.dstEid, _peer(param.dstEid), message, param.extraOptions, payInLzToken);
    }
}
